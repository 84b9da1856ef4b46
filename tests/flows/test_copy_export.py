"""Copying and exporting, typed in one burst: content, order and destination."""

from __future__ import annotations

import csv
import json
import stat
from io import StringIO
from pathlib import Path

import pytest
from journeys import Journey, JourneyHarness, journey_harness, tokens

from gwtui.ui.actions import output
from gwtui.ui.screens.pages import ReadingScreen
from gwtui.ui.screens.picker import Picker
from gwtui.ui.terminal import clipboard
from harness import harness, listing, notices, until
from screen_text import screen_text

DISABLED = ("ana laptop (lost)", "backfill-2024", "legacy-chat-widget", "red-team")


def _no_space(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What tmux received, in order."""
    texts: list[str] = []

    async def to_tmux(text: str) -> bool:
        texts.append(text)
        return True

    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    monkeypatch.setattr(clipboard, "_to_tmux", to_tmux)
    return texts


async def type_in_one_piece(desk: JourneyHarness, keys: str) -> None:
    await desk.at_once(tokens(keys))
    assert "typed ahead" not in notices(desk.app)


async def test_rows_are_copied_from_list_detail_and_raw_json(
    tmp_path: Path, copied: list[str]
) -> None:
    async with harness() as place, journey_harness(place, tmp_path, Journey("")) as desk:
        await type_in_one_piece(
            desk,
            "/state:disabled<enter>yn<enter><down>yn<enter>  yn<enter>yc<enter>limit<enter>"
            "ujdyn<enter>vyj<enter><escape>yi<enter>",
        )
        app = desk.app
        assert app.screen is listing(app)
        names, raw, identity = copied[:-2], json.loads(copied[-2]), copied[-1]
        assert names[:3] == [DISABLED[0], DISABLED[1], "\n".join(DISABLED[1:3])]
        assert names[3] == "600.0\nno limit", "the cells of the marked rows, in full"
        assert names[4] == raw["name"] == DISABLED[3], "the marks are taken away"
        assert raw["hash"] == identity == app.navigation.screen.identity()  # type: ignore[union-attr]
        assert f"Id of key {DISABLED[3]}: Copied by tmux" in notices(app)

        # Hidden marks are counted; Esc copies nothing; the raw JSON identifies the key.
        await type_in_one_piece(desk, "* /invoice<enter>y")
        assert isinstance(app.screen, Picker)
        assert "marked keys, " in screen_text(app)
        assert " hidden by the filter" in screen_text(app)
        await type_in_one_piece(desk, "<escape>uv")
        assert isinstance(app.screen, ReadingScreen)
        assert "y copies" in screen_text(app)
        await type_in_one_piece(desk, "yl<enter><escape>")
        link = copied[-1]
        assert link.startswith("gwtui keys/")
        app.clear_notifications()
        await type_in_one_piece(desk, "ycurl<enter>")
        assert copied[-1].startswith("curl -sS ")
        await type_in_one_piece(desk, "<escape><escape><ctrl+p>curl")
        assert "Copy id, name, cell, JSON, curl" in screen_text(app)
        copied.append(link)
        await type_in_one_piece(desk, f"<escape><escape>3:{link.partition(' ')[2]}<enter>")
        assert listing(app).identity() == link.partition("/")[2]
        assert copied[-1] == link


def exports_name_each_row(as_csv: str, as_ndjson: str) -> None:
    rows = list(csv.reader(StringIO(as_csv)))
    exported = [json.loads(line) for line in as_ndjson.splitlines()]
    assert [row["name"] for row in exported] == [*reversed(DISABLED)]
    assert [row[:2] for row in rows] == [
        ["id", "name"],
        *([row["hash"], row["name"]] for row in exported),
    ]
    assert "state" not in rows[0], "a column that was hidden"


async def test_the_visible_list_is_exported_to_clipboard_and_files(
    tmp_path: Path, copied: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    async with harness() as place, journey_harness(place, tmp_path, Journey("")) as desk:
        app = desk.app
        await type_in_one_piece(
            desk, "/state:disabled<enter>S|<down> <enter>Yc<enter>Yn<enter>Ycsv file<enter>"
        )
        exports_name_each_row(*copied)
        (exported_file,) = sorted(tmp_path.glob("gwtui-keys-*.csv"))  # noqa: ASYNC240 - a few names
        assert exported_file.read_text() == copied[0]
        assert stat.S_IMODE(exported_file.stat().st_mode) == 0o600
        assert f"4 of 46 rows as CSV: written to {exported_file}" in notices(app)
        app.clear_notifications()

        with monkeypatch.context() as full:
            full.setattr(output, "create", _no_space)
            await type_in_one_piece(desk, "Yjson file<enter>")
        assert "not written: No space left on device" in notices(app)

        # Too large for the terminal: it goes to a private file, with the reason.
        monkeypatch.delenv("TMUX")
        monkeypatch.setattr(clipboard, "OSC52_LIMIT", 100)
        monkeypatch.setattr(clipboard, "_is_terminal", lambda *_: True)
        app.clear_notifications()
        await type_in_one_piece(desk, "Yj<enter>")
        assert "Too large for the terminal's clipboard" in notices(app)


async def test_rankings_are_copied_and_exported(tmp_path: Path, copied: list[str]) -> None:
    async with (
        harness() as place,
        journey_harness(place, tmp_path, Journey("", start="activity")) as desk,
    ):
        await until(desk.pilot, lambda: desk.app.screen.target() is not None, "the ranking")
        await type_in_one_piece(desk, "yn<enter>Yj<enter>1yl<enter>")
        ranked = json.loads(copied[1])
        assert ranked[0]["name"] == copied[0]
        assert set(ranked[0]) > {"name", "spend"}
        assert copied[2].startswith("gwtui keys/")
