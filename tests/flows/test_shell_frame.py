"""The frame in every size and colour, and the walls behind it."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.segment import Segment
from textual.color import Color
from textual.content import Content
from textual.geometry import Region
from textual.theme import Theme

from gwtui.crud.action import APP, LIST
from gwtui.crud.resource import Cell
from gwtui.local.crash_report import crash_report
from gwtui.resources.registry import RESOURCES, TITLES
from gwtui.resources.registry import TABS as TABS_OF_THE_DASHBOARD
from gwtui.ui.commands import offered, with_keys
from gwtui.ui.screens.dialogs import TooSmallScreen
from gwtui.ui.screens.modal import Dialog
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.terminal.app import ControlCharacterFilter
from gwtui.ui.themes import THEMES
from gwtui.ui.widgets.frame import (
    CRITICAL,
    FAULTS,
    READ_ONLY,
    HeaderFacts,
    HeaderTab,
    footer_parts,
    header_parts,
    left_out,
    status_content,
)
from harness import dashboard, harness, line, listing, notices, until
from screen_text import shown

TABS = tuple(
    HeaderTab(f"go.{title.lower()}", str(number), title, current=number == 2)
    for number, title in enumerate(("Credits", "Keys", "Models", "Workspaces", "Providers"), 1)
)


def width_of(parts: object) -> int:
    return sum(part.content.cell_length for part in parts)  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [60, 72, 80, 100, 120, 200])
def test_the_header_fits_and_never_drops_profile_or_badge(width: int) -> None:
    facts = HeaderFacts(
        TABS,
        "Research and development",
        profile="production-eu",
        host="gateway.example.org:8443",
        token_source="environment",
        read_only=True,
    )
    parts = header_parts(facts, width)
    text = "".join(part.content.plain for part in parts)
    assert width_of(parts) <= width
    assert READ_ONLY in text
    assert "production-" in text
    assert "2 Keys" in text
    if width == 200:
        assert "gateway.example.org:8443" in text
        assert "environment" in text


REAL_TABS = tuple(
    HeaderTab(f"go.{tab}", str(number), TITLES[tab], tab == "keys")
    for number, tab in enumerate(TABS_OF_THE_DASHBOARD, 1)
)
STATUS = Content(" 46 keys · by name ▲ · updated 11:33:31 UTC")


@pytest.mark.parametrize("name", ["production", "production-readonly", "production-eu-watched-it"])
def test_tabs_give_way_before_the_name_of_a_profile(name: str) -> None:
    """Two profiles of one beginning are never taken for each other."""
    facts = HeaderFacts(REAL_TABS, profile=name, read_only=True, critical=True)
    if name == "production-readonly":
        facts = replace(facts, alerts=Cell("17 ALERTS"))
    parts = header_parts(facts, 80)
    text = "".join(part.content.plain for part in parts)
    assert width_of(parts) <= 80
    assert f"{CRITICAL}  {name} " in text
    assert READ_ONLY in text


@pytest.mark.parametrize("width", [80, 100, 120, 130, 160, 200])
@pytest.mark.parametrize("guarded", [False, True])
def test_profile_host_source_and_guards_are_in_sight_at_every_width(
    width: int, guarded: bool
) -> None:
    facts = HeaderFacts(
        REAL_TABS,
        profile="production",
        host="gateway.example.com",
        token_source="keyring",
        read_only=guarded,
        critical=guarded,
    )
    header = "".join(part.content.plain for part in header_parts(facts, width))
    status = status_content(STATUS, left_out(facts, width), width)
    assert max(width_of(header_parts(facts, width)), status.cell_length) <= width
    seen = f"{header}\n{status.plain}"
    expected = {"production", "gateway.exa", "key: keyring", "46 keys", "updated 11:"}
    expected |= {READ_ONLY, CRITICAL} if guarded else set()
    assert {text for text in expected if text not in seen} == set()
    assert seen.count("keyring") == 1
    if not guarded:
        assert "4 Worksp" in header
        assert "gateway.example.com" in seen


def test_tabs_carry_names_at_80_cells_when_lists_are_narrowed_to_a_workspace() -> None:
    facts = HeaderFacts(REAL_TABS, "Data pipelines", profile="demo", token_source="demo")
    text = "".join(part.content.plain for part in header_parts(facts, 80))
    assert "4 Work" in text
    assert "w Data…" in text or "w Data " in text


@pytest.mark.parametrize("profile", ["demo", "production", "production-readonly"])
@pytest.mark.parametrize("workspace", [None, "Data pipelines"])
@pytest.mark.parametrize("current", TABS_OF_THE_DASHBOARD)
@pytest.mark.parametrize("read_only", [False, True])
def test_every_tab_has_its_name_at_80_cells_beside_a_badge(
    profile: str, workspace: str | None, current: str, read_only: bool
) -> None:
    """The names are those of a wide terminal, or begin like them."""
    tabs = tuple(replace(tab, current=tab.action == f"go.{current}") for tab in REAL_TABS)
    alerts = Cell("11 ALERTS", "bad")
    facts = HeaderFacts(tabs, workspace, profile=profile, read_only=read_only, alerts=alerts)
    if read_only:
        facts = replace(facts, profile=profile[:10])
    text = "".join(part.content.plain for part in header_parts(facts, 80))
    assert len(text) <= 80
    assert f" 11  {facts.profile} " in text
    assert [tab.title for tab in tabs if f"{tab.key} {tab.title[:3]}" not in text] == []
    if workspace is not None:
        assert "w Dat" in text or left_out(facts, 80) == ("w Data pipelines",)


def test_the_badge_of_alerts_has_its_word_where_there_is_room() -> None:
    facts = HeaderFacts(REAL_TABS, profile="demo", alerts=Cell("11 ALERTS", "bad"))
    text = "".join(part.content.plain for part in header_parts(facts, 120))
    assert " 11 ALERTS  demo " in text
    assert [tab.title for tab in REAL_TABS if f"{tab.key} {tab.title} " not in text] == []


@pytest.mark.parametrize("width", range(60, 200, 7))
def test_the_name_of_a_workspace_is_cut_only_where_the_line_ends(width: int) -> None:
    name = "Data pipelines of the warehouse (pilot)"
    facts = HeaderFacts(REAL_TABS, name, profile="demo")
    parts = header_parts(facts, width)
    text = "".join(part.content.plain for part in parts)
    assert width_of(parts) == width
    if width == 60:
        assert left_out(facts, width) == (f"w {name}",)
        return
    # One blank is between what stands on the left and on the right.
    assert f"w {name} " in text or re.search(r"\S  ?w Dat\S.*…  demo $", text)
    assert "w Partner portal (pilot)  demo" in "".join(
        part.content.plain
        for part in header_parts(
            HeaderFacts(REAL_TABS, "Partner portal (pilot)", profile="demo"), 101
        )
    )


@pytest.mark.parametrize("width", [60, 80, 120])
def test_faults_that_are_on_are_said_at_every_width(width: int) -> None:
    parts = header_parts(HeaderFacts(REAL_TABS, profile="demo", faults=True), width)
    assert FAULTS in "".join(part.content.plain for part in parts)
    assert width_of(parts) <= width


def test_a_long_status_leaves_room_for_where_the_gateway_is() -> None:
    left = Content(" " + "too much to say " * 10)
    said = status_content(left, ("gateway.example.com", "key: keyring"), 80)
    assert said.cell_length <= 80
    assert "…  gateway.exa… · key: keyring" in said.plain


@pytest.mark.parametrize("resource", RESOURCES)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_footer_fits_and_always_shows_help_and_quit(resource: str, width: int) -> None:
    parts = footer_parts(offered((resource, LIST, APP)), width)
    text = "".join(part.content.plain for part in parts)
    assert width_of(parts) <= width
    assert "? Help" in text
    assert "q Quit" in text


async def test_sizes_change_under_the_hand() -> None:
    async with (
        harness() as place,
        dashboard(place, size=(200, 60)) as (app, pilot),
    ):
        row = listing(app).table.selected_identity
        assert listing(app).detail.shown
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert not listing(app).detail.shown
        assert "updated" in line(listing(app), "status")
        await pilot.resize_terminal(50, 10)
        await pilot.pause()
        assert isinstance(app.screen, TooSmallScreen)
        assert "60 columns" in shown(app)
        await pilot.resize_terminal(120, 40)
        await pilot.pause()
        assert app.screen is listing(app)
        assert listing(app).table.selected_identity == row


async def test_a_start_in_a_tiny_terminal_is_no_crash() -> None:
    async with (
        harness() as place,
        dashboard(place, size=(40, 8), loaded=False) as (app, pilot),
    ):
        await pilot.pause()
        assert isinstance(app.screen, TooSmallScreen)
        await pilot.press("q")
        await pilot.pause()
        assert not app.is_running


async def test_the_theme_chooser_changes_the_colours() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        await pilot.press("t")
        await pilot.pause()
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.theme == "gwtui-light"
        assert app.screen is listing(app)
        await pilot.press("colon", *"theme nope", "enter")
        await until(pilot, lambda: "There is no theme 'nope'" in notices(app), "the refusal")
        assert "known: dark, light, contrast, terminal" in notices(app)
        await pilot.press("colon", *"theme cont", "tab", "enter")
        await until(pilot, lambda: app.theme == "gwtui-contrast", "the theme")


GROUNDS = ("background", "surface", "panel", "choice-background")
TONES = ("plain", "muted", "good", "warn", "bad", "accent")
TRUE_COLOUR = [theme for theme in THEMES if not theme.ansi]


@pytest.mark.parametrize("theme", TRUE_COLOUR, ids=lambda theme: theme.name)
def test_every_tone_is_legible_on_every_ground(theme: Theme) -> None:
    colours = {**theme.to_color_system().generate(), **theme.variables}
    pairs = [
        *itertools.product((f"tone-{tone}" for tone in TONES), GROUNDS),
        ("foreground", "background"),
        ("badge-foreground", "badge-background"),
        ("alarm-foreground", "alarm-background"),
        ("block-cursor-foreground", "block-cursor-background"),
        ("block-cursor-blurred-foreground", "block-cursor-blurred-background"),
        *itertools.product(("success", "warning", "error", "accent", "text-muted"), GROUNDS[:3]),
    ]
    poor = {
        pair: round(contrast, 2)
        for pair in pairs
        if (contrast := contrast_of(*(Color.parse(colours[name]) for name in pair))) < 4.5
    }
    assert poor == {}


def contrast_of(one: Color, other: Color) -> float:
    """Contrast ratio of the Web Content Accessibility Guidelines."""

    def luminance(colour: Color) -> float:
        def linear(part: int) -> float:
            share = part / 255
            return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

        return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b)

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    "hostile", ["\x1b[2J", "\x9b31m", "\x07", "a\u202eb", "\u2066x", "\ud800", "\r", "\u2028"]
)
def test_the_last_wall_lets_no_control_character_through(hostile: str) -> None:
    cleaned = ControlCharacterFilter().apply([Segment(f"x{hostile}y")], Color.parse("black"))
    text = "".join(segment.text for segment in cleaned)
    assert text.isprintable()
    assert text.startswith("x")
    assert text.endswith("y")
    assert len(text) == len(hostile) + 2


def test_the_last_wall_leaves_ordinary_text_alone() -> None:
    segments = [Segment("Ünïcode — 日本語 👩‍💻 ✔️"), Segment("plain")]
    assert ControlCharacterFilter().apply(segments, Color.parse("black")) == segments


async def test_a_notice_is_never_markup() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        app.notify("key [/foo] [red]gone\x1b[2J", markup=True)
        app.say("workspace [/")
        await pilot.pause()
        assert "[/foo] [red]gone" in notices(app)
        assert "\x1b" not in notices(app)
        assert "workspace [/" in shown(app)


LONG_NOTICE = "Key “airflow-staging” disabled. U undoes it for 10 minutes. " * 3


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 55)])
@pytest.mark.parametrize("keys", [(), ("G",), ("n",), ("x",), ("ctrl+p",), ("t",)])
async def test_notices_cover_nothing(keys: tuple[str, ...], size: tuple[int, int]) -> None:
    async with harness() as place, dashboard(place, size=size) as (app, pilot):
        if keys:
            await pilot.press(*keys)
            await until(pilot, lambda: keys == ("G",) or app.screen is not listing(app), "it")
        for severity in ("information", "error"):
            app.say(LONG_NOTICE, severity=severity)

        def regions() -> list[Region]:
            return [toast.region for toast in app.screen.query("Toast") if toast.region]

        await until(pilot, lambda: len(regions()) == 2, "the notices")
        assert regions()[-1].bottom == app.screen.content_size.height
        if isinstance(app.screen, Dialog):
            assert shown(app).splitlines()[-1].strip() == with_keys(app.screen.footer)
        others = [one for one in app.screen.children if one.id != "textual-toastrack"]
        covered = [
            one for one in others if any(one.region.overlaps(region) for region in regions())
        ]
        assert covered == []
        if isinstance(app.screen, ResourceScreen):
            table = app.screen.table
            assert table.model.cursor is not None
            assert table.top <= table.model.cursor < table.top + table.lines


@pytest.mark.parametrize("width", [60, 80])
def test_wide_characters_do_not_push_the_badge_out(width: int) -> None:
    facts = HeaderFacts(
        TABS, "研究開発部門の作業領域", profile="本番環境のゲートウェイ", read_only=True
    )
    parts = header_parts(facts, width)
    assert width_of(parts) <= width
    assert READ_ONLY in "".join(part.content.plain for part in parts)


def test_a_crash_report_tells_where_but_no_values() -> None:
    def fail(token: str) -> None:
        secret = f"Bearer {token}"
        raise RuntimeError(f"cannot send {secret}")

    try:
        try:
            fail("gw-v1-sentinel")
        except RuntimeError as error:
            raise ValueError("sentinel again") from error
    except ValueError as error:
        report = crash_report(error)
    assert "sentinel" not in report
    assert "ValueError" in report
    assert "RuntimeError" in report
    assert "test_shell_frame.py" in report
    assert "in fail" in report


async def test_a_defect_ends_the_program_with_that_report(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> None:
        hidden = "gw-v1-sentinel"
        raise RuntimeError(hidden)

    async def run() -> None:
        async with harness() as place, dashboard(place) as (app, pilot):
            app.call_later(fail)
            await pilot.pause()

    with pytest.raises(RuntimeError, match="sentinel"):
        await run()
    report = capsys.readouterr().err
    assert "RuntimeError" in report
    assert "in fail" in report
    assert "sentinel" not in report


def test_the_dashboard_loads_nothing_heavy_before_its_first_paint(tmp_path: Path) -> None:
    """Neither the screen nor what a person's profile and key are read by."""
    heavy = (
        *("httpx", "keyring", "starlette", "uvicorn", "sqlite3", "pydantic", "annotated_types"),
        "gwtui.embedded",
    )
    profiles = tmp_path / "profiles.toml"
    profiles.write_text(
        "[profiles.a]\nbase_url = 'https://a.test'\ntoken_command = ['echo', 'k']\n"
    )
    profiles.chmod(0o600)
    code = (
        "import asyncio, sys, gwtui.cli.dashboard, gwtui.ui.app, gwtui.resources.registry\n"
        "from pathlib import Path\n"
        "from gwtui.local.profiles import load_profiles\n"
        "from gwtui.local.tokens import find_token\n"
        f"profile = load_profiles(Path({str(profiles)!r})).profiles['a']\n"
        "found = asyncio.run(find_token(profile))\n"
        "assert profile.connection(found.token, found.source).token\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
