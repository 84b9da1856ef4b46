"""Textual's most called methods, each replaced by one that gives the same with less work.

A form that opens calls them tens of thousands of times: together they are a sixth of its processor
time. Every replacement says what it may take for granted; whatever else comes up goes to Textual's
own method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from rich.segment import Segment
from textual.cache import FIFOCache
from textual.dom import DOMNode
from textual.geometry import Size
from textual.message import Message
from textual.message_pump import MessagePump
from textual.reactive import Reactive
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

# Strips: of the seven caches that each of them is made with hardly one is ever used.

_CACHES = {
    "_divide_cache": 4,
    "_crop_cache": 16,
    "_style_cache": 16,
    "_filter_cache": 4,
    "_line_length_cache": 4,
    "_crop_extend_cache": 4,
    "_offsets_cache": 4,
}
"""Name of a strip's cache -> how much it holds."""


def _begin_strip(strip: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
    strip._segments = list(segments)
    strip._cell_length = cell_length
    strip._render_cache = None
    strip._link_ids = None
    strip._cell_count = None


def _missing(strip: Strip, name: str) -> FIFOCache[Any, Any]:
    """A cache that is asked for first: Python calls this for attributes that have no value."""
    size = _CACHES.get(name)
    if size is None:
        raise AttributeError(name, name=name, obj=strip)
    cache: FIFOCache[Any, Any] = FIFOCache(size)
    setattr(strip, name, cache)
    return cache


# Reactive attributes: one that has its value and is not computed is read like any other.

_own_value: Callable[..., Any] = Reactive.__get__


def _value(reactive: Reactive[Any], node: Any, node_type: Any) -> Any:
    try:
        value = node.__dict__[reactive.internal_name]
    except (AttributeError, KeyError):  # asked of the class, or for the first time
        return _own_value(reactive, node, node_type)
    if reactive.name in node._computes:
        return _own_value(reactive, node, node_type)
    return value


_own_screen: Callable[..., Any] = DOMNode.__dict__["screen"].fget


def _screen(node: Any) -> Any:
    found = node
    try:
        while not isinstance(found, Screen):
            # The property that reads it is called once for each step otherwise.
            found = found._MessagePump__parent()
    except (AttributeError, TypeError):  # there is none
        return _own_screen(node)
    return found


# Styles: an input or button gives itself classes while it is made, and would be styled for each of
# them; all are styled when they are put into a screen.

_own_update: Callable[..., None] = DOMNode.update_node_styles


def _update_attached(node: DOMNode, animate: bool = True) -> None:
    if node.is_dom_root or node.is_attached:
        _own_update(node, animate)


# Scrollbars: every layout tells them their sizes, and renders them even where these are the same.


def _scroll_update(widget: Widget, virtual_size: Size) -> None:
    widget._refresh_scrollbars()
    width, height = widget.container_size
    if widget.show_vertical_scrollbar and widget.styles.scrollbar_size_vertical:
        upright = widget.vertical_scrollbar
        upright.window_virtual_size = virtual_size.height
        upright.window_size = height - widget.scrollbar_size_horizontal
    if widget.show_horizontal_scrollbar and widget.styles.scrollbar_size_horizontal:
        level = widget.horizontal_scrollbar
        level.window_virtual_size = virtual_size.width
        level.window_size = width - widget.scrollbar_size_vertical
    widget.scroll_x = widget.validate_scroll_x(widget.scroll_x)
    widget.scroll_y = widget.validate_scroll_y(widget.scroll_y)


# Messages: most of them have no handler in most widgets, and next to none prevent another one.

_own_handlers: Callable[..., Iterable[Any]] = MessagePump._get_dispatch_methods
_own_prevent: Callable[..., AbstractContextManager[None]] = MessagePump.prevent
_NOTHING_PREVENTED = nullcontext()

_Handlers = tuple[tuple[type, tuple[Callable[..., Any], ...], str], ...]
"""The classes that handle a message, the most special first: decorated functions, and the name
of the one that is found by it, empty where there is none."""
_handlers: dict[tuple[type, str, type], _Handlers | None] = {}
"""Class of a pump, name of a handler, class of a message -> handlers; None when it depends."""


def _dispatched(pump: MessagePump, method_name: str, message: Message) -> Iterable[Any]:
    asked = type(pump), method_name, type(message)
    try:
        handlers = _handlers[asked]
    except KeyError:
        handlers = _handlers[asked] = _found_handlers(*asked)
    if handlers is None:
        return _own_handlers(pump, method_name, message)
    return _bound(handlers, pump, message) if handlers else ()


def _bound(handlers: _Handlers, pump: MessagePump, message: Message) -> Iterator[Any]:
    """The handlers as methods of a pump, until one of them wants no other class to handle it."""
    for cls, functions, name in handlers:
        if message._no_default_action:
            return
        for function in functions:
            yield cls, function.__get__(pump, cls)
        if name:
            yield cls, cls.__dict__[name].__get__(pump, cls)


def _found_handlers(pump: type, method_name: str, message: type) -> _Handlers | None:
    """What handles each message of a class the same; None where selectors decide."""
    found: list[tuple[type, tuple[Callable[..., Any], ...], str]] = []
    known: set[Callable[..., Any]] = set()
    for cls in pump.__mro__:
        functions: list[Callable[..., Any]] = []
        decorated = cls.__dict__.get("_decorated_handlers") or {}
        for message_class in message.__mro__:
            for function, selectors in decorated.get(message_class, ()):
                if selectors:
                    return None
                if function not in known:
                    known.add(function)
                    functions.append(function)
        name = next((one for one in (f"_{method_name}", method_name) if cls.__dict__.get(one)), "")
        if name and getattr(cls.__dict__[name], "_textual_on", None):
            name = ""
        if functions or name:
            found.append((cls, tuple(functions), name))
    return tuple(found)


def _prevented(pump: MessagePump, *message_types: type[Message]) -> AbstractContextManager[None]:
    return _own_prevent(pump, *message_types) if message_types else _NOTHING_PREVENTED


def install() -> None:
    """Put them in the place of Textual's own, for every app of this process."""
    for owner, name, method in (
        (Strip, "__init__", _begin_strip),
        (Strip, "__getattr__", _missing),
        (Reactive, "__get__", _value),
        (DOMNode, "screen", property(_screen)),
        (DOMNode, "update_node_styles", _update_attached),
        (Widget, "_scroll_update", _scroll_update),
        (MessagePump, "_get_dispatch_methods", _dispatched),
        (MessagePump, "prevent", _prevented),
    ):
        setattr(owner, name, method)
