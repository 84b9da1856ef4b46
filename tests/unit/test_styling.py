"""What takes the place of Textual's own methods gives what they give."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from rich.segment import Segment
from textual import on
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.css.stylesheet import Stylesheet
from textual.message import Message
from textual.message_pump import MessagePump
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Button, Input, Label

from gwtui.ui.textual_compat import hot_methods, styling

OWN_APPLY, OWN_REPLACE = styling._own_apply, styling._own_replace


class Styled(App[None]):
    """Rules of every kind: types, classes, identifiers, states, order, one inside the other."""

    CSS = """
    Label { width: 10; }
    #first Label { width: 11; color: red; }
    #first > Label.strong { text-style: bold; }
    .strong.odd { background: blue; }
    Vertical:focus-within { background: green; }
    Vertical:focus-within Label { width: 12; }
    Vertical:focus-within > .strong { width: 13; }
    Label:first-child { height: 3; }
    Label:last-of-type { height: 4 !important; }
    Input:focus { border: heavy red; }
    Input:disabled { border: none; }
    Button { height: initial; }
    App.night Label { color: green; }
    .night Label { color: yellow; }
    """

    def compose(self) -> ComposeResult:
        with Vertical(id="first"):
            yield Label("one", classes="strong odd")
            yield Label("two", classes="strong")
            yield Input(id="name")
            yield Button("Go")
            yield Label("three")
        with Vertical(id="second"):
            yield Label("four", classes="strong odd")
            yield Input(id="other")


def looks(app: App[Any]) -> list[Any]:
    """The rules of every widget and of its parts, and what its look depends on."""
    return [
        (
            repr(node),
            dict(node.styles.base.get_rules()),
            {name: dict(found.base.get_rules()) for name, found in node._component_styles.items()},
            (node._has_hover_style, node._has_focus_within),
            (node._has_order_style, node._has_odd_or_even),
        )
        for node in app.screen.walk_children(with_self=True)
    ]


def without_layouts(found: list[Any]) -> list[Any]:
    """Layouts are compared by their kind: each widget has one of its own."""
    return [
        (name, {key: _kind(value) for key, value in rules.items()}, *rest)
        for name, rules, *rest in found
    ]


def _kind(value: Any) -> Any:
    return type(value) if type(value).__name__.endswith("Layout") else value


async def test_every_state_is_styled_as_by_textual(monkeypatch: pytest.MonkeyPatch) -> None:
    async def journey(app: Styled) -> list[Any]:
        seen = []
        async with app.run_test() as pilot:
            seen.append(looks(app))
            for step in (
                lambda: app.query_one("#name").focus(),
                lambda: app.query_one("#other").focus(),
                lambda: app.query_one("#name", Input).set_reactive(Widget.disabled, True),
                lambda: setattr(app.query_one("#other"), "disabled", True),
                lambda: app.add_class("night"),
                lambda: app.screen.add_class("night"),
                lambda: app.query_one("#second").mount(Label("five", classes="strong")),
                lambda: app.query("Label.odd").remove_class("odd"),
                lambda: setattr(app, "theme", "textual-light"),
                lambda: app.stylesheet.add_source("Label { width: 20; }", ("", "more")),
                lambda: app.refresh_css(animate=False),
                lambda: app.query(Label).first().remove(),
            ):
                step()
                await pilot.pause()
                seen.append(looks(app))
        return [without_layouts(one) for one in seen]

    quick = await journey(Styled())
    monkeypatch.setattr(Stylesheet, "apply", OWN_APPLY)
    monkeypatch.setattr(Stylesheet, "replace_rules", OWN_REPLACE)
    assert quick == await journey(Styled())
    assert all(one != other for one, other in pairwise(quick[3:6]))


class Heard(Message):
    """Has handlers of both kinds."""


class Other(Heard):
    """A special one."""


class Base(Widget):
    level = reactive(1)
    computed = reactive(0)

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def compute_computed(self) -> int:
        return self.level * 2

    def on_heard(self) -> None:
        self.heard.append("base")

    def on_other(self) -> None:
        self.heard.append("other base")

    @on(Heard)
    def also(self) -> None:
        self.heard.append("also")


class Special(Base):
    def on_heard(self) -> None:
        self.heard.append("special")

    def on_other(self, message: Message) -> None:
        self.heard.append("other")
        message.prevent_default()

    @on(Other)
    @on(Heard)
    def once(self) -> None:
        self.heard.append("once")

    @on(Button.Pressed, "#go")
    def pressed(self) -> None:
        self.heard.append("pressed")

    def compose(self) -> ComposeResult:
        yield Button("Go", id="go")
        yield Button("No", id="no")


def named(pump: MessagePump, name: str, message: Message) -> list[tuple[type, str]]:
    own = [
        (cls, found.__qualname__) for cls, found in hot_methods._own_handlers(pump, name, message)
    ]
    quick = [(cls, found.__qualname__) for cls, found in pump._get_dispatch_methods(name, message)]
    assert quick == own
    return quick


async def test_messages_are_handled_by_who_textual_would_ask() -> None:
    class Messages(App[None]):
        def compose(self) -> ComposeResult:
            yield Special()

    app = Messages()
    async with app.run_test() as pilot:
        widget = app.query_one(Special)
        assert len(named(widget, "on_heard", Heard())) == 4
        assert len(named(widget, "on_other", Other())) == 4
        assert named(widget, "on_nothing", Message()) == []
        for name, found in (("go", 1), ("no", 0)):
            pressed = Button.Pressed(app.query_one(f"#{name}", Button)).set_sender(widget)
            assert len(named(widget, "on_button_pressed", pressed)) == found
        widget.post_message(Heard())
        await pilot.pause()
        assert widget.heard == ["once", "special", "also", "base"]
        widget.heard.clear()
        widget.post_message(Other())
        await pilot.pause()
        assert widget.heard == ["once", "other"]
        widget.heard.clear()
        with widget.prevent(Heard), widget.prevent():
            widget.post_message(Heard())
        await pilot.pause()
        assert widget.heard == []
        assert (widget.level, widget.computed, Base.level.name) == (1, 2, "level")
        widget.level = 4
        assert (widget.level, widget.computed) == (4, 8)
        assert widget.screen is app.screen
    with pytest.raises(Exception, match="no screen"):
        _ = Base().screen


def test_a_strip_makes_its_caches_when_it_needs_them() -> None:
    strip = Strip([Segment("one "), Segment("two")], 7)
    assert strip.crop(0, 3) is strip.crop(0, 3)
    assert strip.crop(0, 3).text == "one"
    assert [part.text for part in strip.divide([2, 7])] == ["on", "e two"]
    assert strip._crop_cache._maxsize == 16
    assert not hasattr(strip, "_nothing")
    assert strip.render is not None
