"""Terminal updates: enough for the right screen, and nothing that is already there."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterable

import pyte
import pytest
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region, Size
from textual.strip import Strip

from gwtui.ui.terminal.screen_diff import ScreenDiff
from gwtui.ui.terminal.textual_private import pieces

SIZE = Size(40, 6)
STYLES = [
    None,
    Style.parse("bold #ff0000 on #000000"),
    Style.parse("#ff0000 on #000000"),
    Style.parse("#00ff00"),
    Style.parse("on #223344"),
    Style.parse("reverse"),
    Style.parse("underline #00ff00 on #223344"),
    Style.parse("dim bold italic #00ff00 on #223344"),
]
SIGNS = ["a", "b", "…", "█", "é"]
COMBINED = "e\u0301"
WIDE = ["日", "🙂", COMBINED]


class Terminal:
    """A terminal with updates, and one with full repaints."""

    def __init__(self, *, erases: bool = False) -> None:
        self.memory = ScreenDiff()
        self.memory.erases = erases
        self.screen, self.reference = (pyte.Screen(SIZE.width, SIZE.height) for _ in range(2))
        self.output = ""

    def show(self, update: LayoutUpdate | ChopsUpdate) -> str:
        self.output = self.memory.difference(pieces(update), SIZE, ColorSystem.TRUECOLOR)
        pyte.Stream(self.screen).feed(self.output)
        console = Console(color_system="truecolor")
        pyte.Stream(self.reference).feed(update.render_segments(console).replace("\n", ""))
        return self.output

    def same(self) -> bool:
        lines = range(SIZE.height)
        return all(
            _visible(self.screen.buffer[y][x]) == _visible(self.reference.buffer[y][x])
            for y in lines
            for x in range(SIZE.width)
        )


def _visible(cell: pyte.screens.Char) -> object:
    """The visible part of a cell: for a space only the background, unless it has lines."""
    if cell.data == " " and not (cell.underscore or cell.reverse or cell.strikethrough):
        return cell.bg
    return cell


def strip(chance: random.Random, width: int, signs: Iterable[str]) -> Strip:
    """Some text in some styles, exactly this wide."""
    segments: list[Segment] = []
    remaining = width
    while remaining:
        sign = chance.choice([*signs])
        length = min(remaining, chance.randint(1, 9 if sign != " " else 25))
        segment = Segment(sign * length, chance.choice(STYLES))
        # At the right edge the emulator puts a combining mark on the next line.
        if segment.cell_length > remaining or (
            segment.cell_length == remaining and sign == COMBINED
        ):
            segment = Segment(" " * remaining, None)
        segments.append(segment)
        remaining -= segment.cell_length
    return Strip(segments, width)


def full_update(lines: list[Strip]) -> LayoutUpdate:
    return LayoutUpdate([[line] for line in lines], Region(0, 0, SIZE.width, SIZE.height))


def part(chance: random.Random, y: int, chops: list[Strip]) -> ChopsUpdate:
    """Some columns of a line of several pieces."""
    starts = [0]
    for chop in chops:
        starts.append(starts[-1] + chop.cell_length)
    lines: list[dict[int, Strip | None]] = [{} for _ in range(SIZE.height)]
    lines[y] = dict(zip(starts, chops, strict=False))
    ends = [[0] for _ in range(SIZE.height)]
    ends[y] = starts[1:]
    start = chance.randrange(SIZE.width - 1)
    return ChopsUpdate(lines, [(y, start, chance.randint(start + 1, SIZE.width))], ends)


@pytest.mark.parametrize("signs", [[*SIGNS, " "], [*SIGNS, " ", *WIDE]], ids=["narrow", "wide"])
@pytest.mark.parametrize("seed", range(12))
def test_diffs_show_the_same_screen_as_full_updates(seed: int, signs: list[str]) -> None:
    chance = random.Random(seed)
    terminal = Terminal(erases=seed % 2 == 0)
    terminal.show(full_update([strip(chance, SIZE.width, signs) for _ in range(SIZE.height)]))
    for _ in range(40):
        if chance.random() < 0.2:
            update: LayoutUpdate | ChopsUpdate = full_update(
                [strip(chance, SIZE.width, signs) for _ in range(SIZE.height)]
            )
        else:
            cut = chance.randint(5, 30)
            chops = [strip(chance, cut, signs), strip(chance, SIZE.width - cut, signs)]
            update = part(chance, chance.randrange(SIZE.height), chops)
        terminal.show(update)
        assert terminal.same()
        assert terminal.memory.difference(pieces(update), SIZE, ColorSystem.TRUECOLOR) == ""


def test_only_the_cells_that_differ_are_sent() -> None:
    terminal = Terminal()
    lines = [Strip([Segment(f"used {'x' * 25} 12 %", STYLES[2])]) for _ in range(SIZE.height)]
    terminal.show(full_update([line.extend_cell_length(SIZE.width) for line in lines]))
    lines[3] = Strip([Segment(f"used {'x' * 25} 13 %", STYLES[2])])
    output = terminal.show(full_update([line.extend_cell_length(SIZE.width) for line in lines]))
    assert output == "\x1b[0m\x1b[38;2;255;0;0;48;2;0;0;0m\x1b[4;33H3\x1b[0m"
    assert terminal.same()


def test_long_blanks_are_erased_where_the_terminal_keeps_the_background() -> None:
    line = Strip([Segment("a" + " " * 20 + "b" + " " * 18, STYLES[2])])
    terminal = Terminal(erases=True)
    output = terminal.show(full_update([line] * SIZE.height))
    assert output.count("\x1b[20X") == output.count("\x1b[K") == SIZE.height
    assert " " not in output
    assert terminal.same()


@pytest.mark.parametrize(
    ("term", "fills"), [("xterm-256color", True), ("screen", False), ("unheard-of", False)]
)
def test_terminfo_tells_whether_erasing_fills_the_background(term: str, fills: bool) -> None:
    code = (
        "import sys; from gwtui.ui.terminal.driver import fills_erased as f; print(f(sys.argv[1]))"
    )
    result = subprocess.run([sys.executable, "-c", code, term], capture_output=True, check=True)
    assert result.stdout.decode().strip() == str(fills), result.stderr


def test_a_forgotten_screen_is_sent_again() -> None:
    terminal = Terminal()
    update = full_update([Strip([Segment("x" * SIZE.width)]) for _ in range(SIZE.height)])
    first = terminal.show(update)
    assert terminal.show(update) == ""
    terminal.screen.reset()
    terminal.memory.forget()
    assert terminal.show(update) == first
    assert terminal.same()


def test_another_size_is_another_screen() -> None:
    memory = ScreenDiff()
    update = full_update([Strip([Segment("x" * SIZE.width)]) for _ in range(SIZE.height)])
    first = memory.difference(pieces(update), SIZE, ColorSystem.TRUECOLOR)
    smaller = memory.difference(pieces(update), Size(10, 2), ColorSystem.TRUECOLOR)
    assert "x" * 10 in smaller
    assert "x" * 11 not in smaller
    assert memory.difference(pieces(update), SIZE, ColorSystem.TRUECOLOR) == first


@pytest.mark.parametrize("seed", range(6))
def test_an_update_for_a_wider_terminal_is_cut(seed: int) -> None:
    chance = random.Random(seed)
    small = Size(SIZE.width - chance.randint(1, 30), SIZE.height - chance.randint(0, 3))
    screen, memory = pyte.Screen(small.width, small.height), ScreenDiff()

    def other_lines(y: int) -> list[dict[int, pyte.screens.Char]]:
        return [dict(screen.buffer[row]) for row in range(small.height) if row != y]

    for _ in range(20):
        y, cut = chance.randrange(SIZE.height), chance.randint(5, 35)
        chops = [strip(chance, width, ["日", "🙂", "a"]) for width in (cut, SIZE.width - cut)]
        before = other_lines(y)
        output = memory.difference(pieces(part(chance, y, chops)), small, ColorSystem.TRUECOLOR)
        pyte.Stream(screen).feed(output)
        assert other_lines(y) == before
        assert max(screen.buffer[min(y, small.height - 1)], default=0) < small.width
