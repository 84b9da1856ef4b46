"""The program on a real terminal and a hostile gateway emits only its own sequences.

The output is parsed byte by byte: anything that is not a sequence used by Textual must be printable
text, and the screen of a terminal emulator must show the escapes.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_gateway import HostileApp

from loaded_program import GWTUI
from login_kit import served_gateway
from pty_terminal import PtyTerminal, pty_terminal

SEQUENCES = re.compile(
    r"""
    \x1b \[ [0-9;:]* m                        # colours
  | \x1b \[ \d+ (?: ; \d+ )? H                # cursor to
  | \x1b \[ \d+ [GX]                          # cursor to a column, erase so many cells
  | \x1b \[ \? (?: 25 | 1000 | 1003 | 1004 | 1006 | 1015 | 1016 | 1049 | 2004 | 2026 | 2048 | 7 )
      (?: ; \d+ )* [hl]                       # modes: cursor, mouse, focus, screen, paste, updates
  | \x1b \[ \? \d+ \$ p                       # query of a mode
  | \x1b \[ [<>]? \d* u | \x1b \[ = \d+ ; \d u  # keyboard protocol
  | \x1b \[ 2? [JK] | \x1b \[ H               # erase
  | \x1b \] 22 ; [a-z-]+ \x07                # shape of the pointer
  | \x1b \[ c | \x1b \[ 6 n | \x1b \[ \d+ \x20 q
    """,
    re.VERBOSE,
)
PLAIN_CONTROLS = frozenset("\r\n")
BAD = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@pytest.fixture
def terminal(private_home: Path) -> Iterator[PtyTerminal]:
    with served_gateway("simulated", before=HostileApp) as gateway:
        command = [*GWTUI, "--base-url", gateway.base_url, "keys"]
        environment = {"GWTUI_TOKEN": gateway.management}
        with pty_terminal(command, columns=100, rows=30, environment=environment) as started:
            yield started


def test_only_known_sequences_reach_the_terminal(
    terminal: PtyTerminal, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.wait_for("by name", 60)
    terminal.settle()
    marks = 0
    for keys in ("", "v", "\x1b", "\x10", "\x1b", "e", "\x1b", "4", "d", "G", ":zdr\r", "x", "5"):
        terminal.send(keys)
        terminal.settle(0.4)
        marks += terminal.text.count("\u2039U+") + terminal.text.count("\u241b")
    terminal.send("\x1b")
    terminal.settle(0.4)
    terminal.quit()
    text = terminal.raw.decode("utf-8")
    counter = Counter(item.group()[:2] + item.group()[-1] for item in SEQUENCES.finditer(text))
    rest = SEQUENCES.sub("", text)
    bad = Counter(
        char for char in rest if char not in PLAIN_CONTROLS and unicodedata.category(char) in BAD
    )
    assert not bad, {ascii(char): _around(rest, char) for char in bad}
    assert marks > 20
    with capsys.disabled():
        print(f"\n{len(terminal.raw)} bytes, {counter.total()} sequences, {marks} marks on screens")


def _around(text: str, char: str) -> str:
    index = text.index(char)
    return ascii(text[max(0, index - 20) : index + 30])
