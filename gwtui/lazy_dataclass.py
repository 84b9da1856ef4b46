"""``dataclass`` as in the standard library, but its methods are made when they are first called.

The standard library compiles six functions for each frozen dataclass, which took an eighth of the
time to the first rows; most of them are never called in a session. There are no ``InitVar`` and no
``order`` here: nothing asks for them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, NoReturn

_FACTORY = object()
"""Stands for what a factory gives, where an argument is left out."""


def _decorate(
    cls: type[Any] | None = None,
    /,
    *,
    frozen: bool = False,
    eq: bool = True,
    unsafe_hash: bool = False,
    slots: bool = False,
    **options: bool,
) -> Any:
    """Decorate a class, or give what decorates one with these options of the standard library."""

    def decorate(cls: type[Any]) -> type[Any]:
        # Of the methods, Python's own makes none.
        python: Any = dataclasses.dataclass  # noqa: TID251 - the one place
        made: type[Any] = python(init=False, repr=False, eq=False, slots=slots, **options)(cls)
        written = vars(cls)
        later = ["__init__", "__repr__", *(["__eq__"] if eq else [])]
        methods: dict[str, Any] = {
            name: _made_when_called(made, name, frozen) for name in later if name not in written
        }
        if unsafe_hash or (eq and frozen and written.get("__hash__") is None):
            methods["__hash__"] = _made_when_called(made, "__hash__", frozen)
        elif eq and "__hash__" not in written:
            methods["__hash__"] = None
        if frozen:
            methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
            if slots and "__getstate__" not in written:
                methods |= {"__getstate__": _state, "__setstate__": _set_state}
        for name, method in methods.items():
            setattr(made, name, method)
        return made

    return decorate if cls is None else decorate(cls)


def _made_when_called(owner: type[Any], name: str, frozen: bool) -> Callable[..., Any]:
    """Stands for a method of ``owner`` until it is called for the first time."""

    def method(*arguments: Any, **options: Any) -> Any:
        made = _init(owner, frozen) if name == "__init__" else _compared_or_shown(owner, name)
        # Another thread may have made it meanwhile.
        if vars(owner)[name] is method:
            setattr(owner, name, made)
        return made(*arguments, **options)

    method.__name__ = name
    method.__qualname__ = f"{owner.__qualname__}.{name}"
    return method


def _compared_or_shown(owner: type[Any], name: str) -> Callable[..., Any]:
    """The method of the standard library, made for a class of the same fields."""
    same: type[Any] = dataclasses.make_dataclass(
        owner.__name__,
        [],
        bases=(owner,),
        namespace={"__slots__": (), "__module__": owner.__module__},
        init=False,
        repr=name == "__repr__",
        eq=name == "__eq__",
        unsafe_hash=name == "__hash__",
    )
    made: Callable[..., Any] = vars(same)[name]
    return made


def _init(owner: type[Any], frozen: bool) -> Callable[..., None]:
    """What sets the fields of a new instance and then calls its ``__post_init__``."""
    known: dict[str, Any] = {"__factory": _FACTORY, "__set": object.__setattr__}
    positional, keyword = ["self"], ["*"]
    lines = []
    for field in fields(owner):
        value = _value(field, known)
        if field.init:
            given = "" if _is_required(field) else f"=__default_{field.name}"
            (keyword if field.kw_only else positional).append(field.name + given)
        if value:
            lines.append(_assignment(owner, field.name, value, known, frozen))
    if hasattr(owner, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(positional + (keyword if len(keyword) > 1 else []))
    source = "\n ".join([f"def __init__({parameters}):", *(lines or ["pass"])])
    exec(source, known)  # noqa: S102 - nothing in it but the names of fields
    made: Callable[..., None] = known["__init__"]
    made.__qualname__ = f"{owner.__qualname__}.__init__"
    made.__module__ = owner.__module__
    return made


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _value(field: Field[Any], known: dict[str, Any]) -> str:
    """The expression that a field is set to; none where the class holds its value."""
    name = field.name
    if field.default_factory is not MISSING:
        known[f"__make_{name}"], known[f"__default_{name}"] = field.default_factory, _FACTORY
        made = f"__make_{name}()"
        return f"{made} if {name} is __factory else {name}" if field.init else made
    if field.default is not MISSING:
        known[f"__default_{name}"] = field.default
        return name if field.init else f"__default_{name}"
    return name if field.init else ""


def _assignment(
    owner: type[Any], name: str, value: str, known: dict[str, Any], frozen: bool
) -> str:
    if not frozen:
        return f"self.{name} = {value}"
    slot = getattr(owner, name, None)
    if isinstance(slot, MemberDescriptorType):
        known[f"__set_{name}"] = slot.__set__
        return f"__set_{name}(self, {value})"
    return f"__set(self, {name!r}, {value})"


def _refuse_to_set(_self: object, name: str, _value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass  # noqa: TID251
else:
    dataclass = _decorate

__all__ = ["dataclass"]
