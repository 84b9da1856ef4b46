"""What the shell writes of the data: raw JSON, detail pane, and only the lines that changed."""

from __future__ import annotations

from decimal import Decimal

from textual.app import App, ComposeResult
from textual.content import Content

from gwtui.contract.keys import ApiKey
from gwtui.ui.screens.pages import raw_lines
from gwtui.ui.widgets.lines import LinesView


def text_of(lines: list[Content]) -> str:
    return "\n".join(line.plain for line in lines)


def test_raw_json_keeps_numbers_and_order_as_they_came() -> None:
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
    assert "Fields outside the contract\n  surprise\n" in text
    assert '"name": "n",\n' in text
    assert "Gaps against the contract" in text
    assert "label: missing" in text
    assert "usage: " in text


def test_raw_json_shows_no_secret_and_no_control_character() -> None:
    raw = {"key": "gw-v1-sentinel", "name": "\x1b[31m[red]\u202ex", "nested": {"token": "sentinel"}}
    text = text_of(raw_lines(raw, None))
    assert "sentinel" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[red]" in text


class Reader(App[None]):
    def compose(self) -> ComposeResult:
        yield LinesView()
