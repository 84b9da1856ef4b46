"""The manual as tests see it: its pages, their blocks of code, and the commands in them."""

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
"""What people read who use the program."""
DOCUMENTS = (*MANUAL, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md")


@dataclass(frozen=True)
class Block:
    """A fenced block of code; ``line`` is that of its first line in the page, from 1."""

    page: Path
    line: int
    language: str
    text: str

    def commands(self) -> Iterator[tuple[str, str]]:
        """Where a command stands and the command itself, one for each line with something in it."""
        for number, line in enumerate(self.text.splitlines(), start=self.line):
            if line.strip():
                yield f"{self.page.relative_to(ROOT)}:{number}", line


def parts(page: Path) -> Iterator[Token]:
    """All parts of a page, each before what is in it."""
    for token in MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")):
        yield token
        yield from token.children or ()


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [
        Block(page, token.map[0] + 2, token.info, token.content)
        for token in parts(page)
        if token.type == "fence" and token.map is not None
    ]


def mentioned(page: Path) -> list[str]:
    """What the prose of a page sets as code."""
    return [token.content for token in parts(page) if token.type == "code_inline"]


def shell_words(line: str) -> list[str]:
    """A line of the shell as words; redirections, pipes and the like are words of their own."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    return list(lexer)
