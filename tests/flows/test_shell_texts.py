"""What the shell writes of the data: raw JSON, detail pane, and only the lines that changed."""

from __future__ import annotations

from decimal import Decimal

from textual.app import App, ComposeResult
from textual.content import Content
from textual.geometry import Region

from gwtui.contract.keys import ApiKey
from gwtui.ui.screens.pages import raw_lines
from gwtui.ui.widgets.lines import LinesView
from harness import strips


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


async def test_only_lines_that_changed_are_repainted() -> None:
    app = Reader()
    async with app.run_test(size=(40, 10)) as pilot:
        view = app.query_one(LinesView)
        view.show([Content(f"line {number}") for number in range(50)])
        await pilot.pause()
        asked: list[Region] = []
        refresh = view.refresh
        view.refresh = lambda *regions, **more: (asked.extend(regions), refresh(*regions, **more))[
            1
        ]  # type: ignore[method-assign, assignment]
        changed = [Content(f"line {number}") for number in range(50)]
        view.show(changed)
        assert asked == []
        changed[3] = Content("other")
        changed[40] = Content("out of sight")
        view.show(changed)
        assert [(region.y, region.height) for region in asked] == [(3, 1)]
        view.scroll_to(y=35, animate=False)
        await pilot.pause()
        assert "out of sight" in "".join(s.text for s in view.render_line(5))

        long = [Content(f"line {number}") for number in range(1_000)]
        view.show(long)
        before = strips()
        for y in range(len(long) - 35):
            assert view.render_line(y).text.startswith(f"line {y + 35}")
        assert strips() - before < 500, "lines that were scrolled past are kept"
