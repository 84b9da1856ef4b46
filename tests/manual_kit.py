"""The manual for tests: its pages, their code blocks, and the commands in them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
MANUAL = (README, *sorted((ROOT / "docs").rglob("*.md")))
"""The documents for users."""
DOCUMENTS = (*MANUAL, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md")


@dataclass(frozen=True)
class Block:
    """A fenced code block; ``line`` is the number of its first line in the page, from 1."""

    page: Path
    line: int
    language: str
    text: str

    def commands(self) -> Iterator[tuple[str, str]]:
        """Each command with its place, one for each non-empty line."""
        for number, line in enumerate(self.text.splitlines(), start=self.line):
            if line.strip():
                yield f"{self.page.relative_to(ROOT)}:{number}", line


def parts(page: Path) -> Iterator[Token]:
    """All elements of a page, parents before children."""
    for token in MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")):
        yield token
        yield from token.children or ()


def blocks(page: Path) -> list[Block]:
    """The fenced code blocks of a page, in order."""
    return [
        Block(page, token.map[0] + 2, token.info, token.content)
        for token in parts(page)
        if token.type == "fence" and token.map is not None
    ]


def mentioned(page: Path) -> list[str]:
    """The inline code of a page."""
    return [token.content for token in parts(page) if token.type == "code_inline"]


def shell_words(line: str) -> list[str]:
    """Split a shell line into words; redirections and pipes are words of their own."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    return list(lexer)
