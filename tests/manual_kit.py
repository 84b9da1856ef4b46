"""The manual as tests see it: its pages, their blocks of code, and the commands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
MANUAL = (README, *sorted((ROOT / "docs").rglob("*.md")))
"""What people read who use the program."""
DOCUMENTS = (*MANUAL, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md")
_FENCE = "```"
_SPAN = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Block:
    """A fenced block of code; ``line`` is that of its first line in the page, from 1."""

    page: Path
    line: int
    language: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def commands(self) -> Iterator[tuple[str, str]]:
        """Where a command stands and the command itself, one for each line with something in it."""
        for number, line in enumerate(self.lines, start=self.line):
            if line.strip():
                yield f"{self.page.relative_to(ROOT)}:{number}", line


def blocks(page: Path) -> tuple[Block, ...]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    opened: tuple[int, str] | None = None
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        if not line.startswith(_FENCE):
            continue
        if opened is None:
            opened = number, line.removeprefix(_FENCE).strip()
        else:
            start, language = opened
            found.append(Block(page, start + 1, language, tuple(lines[start : number - 1])))
            opened = None
    assert opened is None, f"{page} has a block without an end"
    return tuple(found)


def prose(page: Path) -> str:
    """A page without its blocks; their lines are empty."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for block in blocks(page):
        first = block.line - 1
        lines[first - 1 : first + len(block.lines) + 1] = [""] * (len(block.lines) + 2)
    return "\n".join(lines)


def mentioned(page: Path) -> list[str]:
    """What the prose of a page sets as code."""
    return [span.replace("\n", " ") for span in _SPAN.findall(prose(page))]


def shell_words(line: str) -> list[str]:
    """A line of the shell as words; redirections, pipes and the like are words of their own."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    return list(lexer)
