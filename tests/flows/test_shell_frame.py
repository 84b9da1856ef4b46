"""The frame of the dashboard at every size and color, and its error boundaries."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from decimal import Decimal

import pytest
from rich.segment import Segment
from textual.color import Color
from textual.content import Content
from textual.geometry import Region
from textual.theme import Theme

from gwtui.contract.keys import ApiKey
from gwtui.crud.action import APP, LIST
from gwtui.crud.resource import Cell
from gwtui.resources.registry import RESOURCES, TITLES
from gwtui.resources.registry import TABS as TABS_OF_THE_DASHBOARD
from gwtui.ui.commands import offered, with_keys
from gwtui.ui.screens.dialogs import Dialog, TooSmallScreen
from gwtui.ui.screens.pages import raw_lines
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
from harness import dashboard, harness, listing, notices, start_over, until
from screen_text import screen_text


def width_of(parts: object) -> int:
    return sum(part.content.cell_length for part in parts)  # type: ignore[attr-defined]


def header(facts: HeaderFacts, width: int) -> str:
    """The text of the header, which must fit."""
    parts = header_parts(facts, width)
    assert width_of(parts) == width
    return "".join(part.content.plain for part in parts)


TABS = tuple(
    HeaderTab(f"go.{tab}", str(number), TITLES[tab], tab == "keys")
    for number, tab in enumerate(TABS_OF_THE_DASHBOARD, 1)
)
STATUS = Content(" 46 keys · by name ▲ · updated 11:33:31 UTC")
ALERTS = Cell("11 ALERTS", "bad")


@pytest.mark.parametrize("width", [60, 72, 80, 100, 120, 130, 160, 200])
@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("workspace", [None, "研究開発部門の作業領域"])
def test_profile_host_key_source_and_guards_show_at_every_width(
    width: int, guarded: bool, workspace: str | None
) -> None:
    facts = HeaderFacts(
        TABS,
        workspace,
        profile="production",
        host="gateway.example.com",
        token_source="keyring",
        read_only=guarded,
        critical=guarded,
        faults=guarded,
    )
    status = status_content(STATUS, left_out(facts, width), width)
    assert status.cell_length <= width
    result = f"{header(facts, width)}\n{status.plain}"
    expected = {"production", "2 Keys"} | ({READ_ONLY, CRITICAL, FAULTS} if guarded else set())
    if width >= 80 and workspace is None:
        expected |= {"gateway.exa", "key: keyring", "46 keys", "updated 11:"}
        assert result.count("keyring") == 1
    assert {text for text in expected if text not in result} == set()


@pytest.mark.parametrize("name", ["production", "production-readonly", "production-eu-watched"])
def test_tabs_shrink_before_the_profile_name(name: str) -> None:
    """Two profiles with the same prefix must stay distinguishable."""
    facts = HeaderFacts(TABS, profile=name, read_only=True, critical=True)
    for alerts in (None, ALERTS):
        assert f"{CRITICAL}  {name} " in header(replace(facts, alerts=alerts), 80)


@pytest.mark.parametrize("workspace", [None, "Data pipelines"])
@pytest.mark.parametrize("current", TABS_OF_THE_DASHBOARD)
def test_tab_names_show_at_80_columns_beside_a_badge(workspace: str | None, current: str) -> None:
    """The names are those of a wide terminal, or begin like them."""
    tabs = tuple(replace(tab, current=tab.action == f"go.{current}") for tab in TABS)
    for profile, read_only in (
        ("demo", True),
        ("production", True),
        ("production-readonly", False),
    ):
        facts = HeaderFacts(tabs, workspace, profile=profile, read_only=read_only, alerts=ALERTS)
        text = header(facts, 80)
        assert f" 11  {profile} " in text
        assert [tab.title for tab in tabs if f"{tab.key} {tab.title[:3]}" not in text] == []
        assert not workspace or "w Dat" in text or left_out(facts, 80) == ("w Data pipelines",)
    wide = header(HeaderFacts(tabs, profile="demo", alerts=ALERTS), 120)
    assert " 11 ALERTS  demo " in wide
    assert [tab.title for tab in tabs if f"{tab.key} {tab.title} " not in wide] == []


@pytest.mark.parametrize("width", range(60, 200, 7))
def test_the_workspace_name_uses_all_free_space(width: int) -> None:
    name = "Data pipelines of the warehouse (pilot)"
    facts = HeaderFacts(TABS, name, profile="demo")
    text = header(facts, width)
    if width == 60:
        assert left_out(facts, width) == (f"w {name}",)
    else:
        # One space separates the left part from the right part.
        assert f"w {name} " in text or re.search(r"\S  ?w Dat\S.*…  demo $", text)


def test_a_long_status_leaves_room_for_the_host() -> None:
    text = Content(" " + "too much to say " * 10)
    status = status_content(text, ("gateway.example.com", "key: keyring"), 80)
    assert status.cell_length <= 80
    assert "…  gateway.example.com · k…" in status.plain


@pytest.mark.parametrize("resource", RESOURCES)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_footer_fits_and_always_shows_help_and_quit(resource: str, width: int) -> None:
    parts = footer_parts(offered((resource, LIST, APP)), width)
    text = "".join(part.content.plain for part in parts)
    assert width_of(parts) <= width
    assert "? Help" in text
    assert "q Quit" in text


async def test_a_start_in_a_tiny_terminal_does_not_crash() -> None:
    async with (
        harness() as place,
        dashboard(place, size=(40, 8), loaded=False) as (app, pilot),
    ):
        await pilot.pause()
        assert isinstance(app.screen, TooSmallScreen)
        await pilot.press("q")
        await pilot.pause()
        assert not app.is_running


async def test_the_theme_is_changed_by_chooser_and_command() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        await pilot.press("t")
        await pilot.pause()
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.theme == "gwtui-light"
        assert app.screen is listing(app)
        await place.press("colon", *"theme nope", "enter", says="There is no theme 'nope'")
        assert "known: dark, light, contrast, terminal" in notices(app)
        await pilot.press("colon", *"theme cont", "tab", "enter")
        await until(pilot, lambda: app.theme == "gwtui-contrast", "the theme")


GROUNDS = ("background", "surface", "panel", "choice-background")
TONES = ("plain", "muted", "good", "warn", "bad", "accent")
TRUE_COLOUR = [theme for theme in THEMES if not theme.ansi]


@pytest.mark.parametrize("theme", TRUE_COLOUR, ids=lambda theme: theme.name)
def test_text_colours_have_enough_contrast(theme: Theme) -> None:
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
    low_contrast = {
        pair: round(contrast, 2)
        for pair in pairs
        if (contrast := contrast_of(*(Color.parse(colours[name]) for name in pair))) < 4.5
    }
    assert low_contrast == {}


def contrast_of(first_colour: Color, second_colour: Color) -> float:
    """Contrast ratio by the Web Content Accessibility Guidelines."""

    def luminance(colour: Color) -> float:
        def linear(part: int) -> float:
            share = part / 255
            return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

        return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b)

    low, high = sorted((luminance(first_colour), luminance(second_colour)))
    return (high + 0.05) / (low + 0.05)


def test_the_control_character_filter_keeps_ordinary_text() -> None:
    segments = [Segment("Ünïcode — 日本語 👩‍💻 ✔️"), Segment("plain")]
    assert ControlCharacterFilter().apply(segments, Color.parse("black")) == segments


LONG_NOTICE = "Key “airflow-staging” disabled. U undoes it for 10 minutes. " * 3


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 55)])
async def test_notices_cover_no_content(size: tuple[int, int]) -> None:
    async with harness() as place, dashboard(place, size=size) as (app, pilot):

        def regions() -> list[Region]:
            return [toast.region for toast in app.screen.query("Toast") if toast.region]

        for key in ("G", "n", "x", "ctrl+p", "t"):
            await pilot.press(key)
            await until(pilot, lambda key=key: key == "G" or app.screen is not listing(app), key)
            for severity in ("information", "error"):
                app.say(LONG_NOTICE, severity=severity)
            await until(pilot, lambda: len(regions()) == 2, "the notices")
            assert regions()[-1].bottom == app.screen.content_size.height
            if isinstance(app.screen, Dialog):
                assert screen_text(app).splitlines()[-1].strip() == with_keys(app.screen.footer)
            widgets = [item for item in app.screen.children if item.id != "textual-toastrack"]
            covered = [widget for widget in widgets if any(map(widget.region.overlaps, regions()))]
            assert covered == []
            if isinstance(app.screen, ResourceScreen):
                table = app.screen.table
                assert table.model.cursor is not None
                assert table.top <= table.model.cursor < table.top + table.lines
            await start_over(app, pilot)


# Texts --------------------------------------------------------------------------------------------


def text_of(lines: list[Content]) -> str:
    return "\n".join(line.plain for line in lines)


def test_raw_json_keeps_numbers_and_order() -> None:
    raw = {"usage": Decimal("0.10"), "limit": None, "tags": ["a", {"b": 1}], "none": {}, "no": []}
    assert text_of(raw_lines(raw, None)) == (
        "{\n"
        '  "usage": 0.10,\n'
        '  "limit": null,\n'
        '  "tags": [\n'
        '    "a",\n'
        "    {\n"
        '      "b": 1\n'
        "    }\n"
        "  ],\n"
        '  "none": {},\n'
        '  "no": []\n'
        "}"
    )


def test_raw_json_lists_unknown_fields_and_gaps() -> None:
    key = ApiKey.model_validate({"hash": "h", "name": "n", "surprise": 1, "usage": "much"})
    text = text_of(raw_lines(key.raw, key))
    for words in (
        "Fields outside the contract\n  surprise\n",
        '"name": "n",\n',
        "Gaps against the contract",
        "label: missing",
        "usage: ",
    ):
        assert words in text


def test_raw_json_shows_no_secret_and_no_control_character() -> None:
    raw = {"key": "gw-v1-sentinel", "name": "\x1b[31m[red]\u202ex", "nested": {"token": "sentinel"}}
    text = text_of(raw_lines(raw, None))
    assert "sentinel" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[red]" in text
