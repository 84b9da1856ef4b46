"""Plans made of hostile resources: what the dialogs ask, what ledger and audit log keep.

The arguments of every plan are made from its own signature, so that a new plan is tried without a
word here; an argument of a new kind makes the test fail until it is known.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hostile_gateway import hostile_answer
from hostile_sinks import dangerous
from hostile_strings import CORPUS, HUGE, SMALL
from pydantic import SecretStr, ValidationError

import gwtui.resources
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.crud.plan import Plan
from gwtui.domain.safe_text import safe_line
from gwtui.resources.assignments import plan_assign, plan_unassign
from gwtui.resources.rotations import plan_rotation
from plan_kit import AssignmentPlans, ByokPlans, GuardrailPlans, KeyPlans, WorkspacePlans
from thoroughness import FULL

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
TEXTS: Mapping[str, str] = (
    CORPUS
    if FULL
    else {
        **dict(list(SMALL.items())[::12]),
        **dict(list(HUGE.items())[::9]),
    }
)
HALF = re.compile("[\ud800-\udfff]")
"""No answer holds one: the client puts U+FFFD in its place."""
SEQUENCES = (Sequence, Iterable, Collection, list, tuple)


SHARED = (plan_assign, plan_unassign, plan_rotation)
"""Plans that take more than data: those that the classes below make of them are tried."""


def plan_functions() -> Iterator[Callable[..., Any]]:
    for module in walk_packages(gwtui.resources.__path__, "gwtui.resources."):
        loaded = import_module(module.name)
        for name, found in vars(loaded).items():
            ours = inspect.isfunction(found) and found.__module__ == loaded.__name__
            if not ours or not name.startswith("plan_") or found in SHARED:
                continue
            if found.__annotations__["return"] != "str":  # what is said of a plan is none
                yield found
    # What the engine plans, by the types of each resource.
    for plans in (ByokPlans, KeyPlans, WorkspacePlans, GuardrailPlans, AssignmentPlans):
        yield from (getattr(plans, name) for name in vars(plans) if name.startswith("plan_"))


FUNCTIONS = {f"{one.__module__}.{one.__qualname__}": one for one in plan_functions()}


REQUIRED: Mapping[str, Any] = {
    "name": "x",
    "slug": "x",
    "provider": "openai",
    "key": SecretStr("k" * 20),
    "limit_usd": 5,
    "user_ids": ["u"],
    "key_hashes": ["a" * 64],
    "generation_id": "gen-1",
    "category": "other",
    "is_filtered_model_catalog_enabled": True,
}


def hostile_request(model: type[RequestModel], text: str) -> RequestModel:
    """A valid request with the text wherever the contract allows it."""
    given = {name: REQUIRED[name] for name, one in model.model_fields.items() if one.is_required()}
    for name in model.model_fields:
        for value in (text, [text], True, None):
            try:
                model.model_validate({**given, name: value})
            except ValidationError:
                continue
            given[name] = value
            break
    return model.model_validate(given)


def made(kind: Any, text: str) -> Any:
    """A hostile value of a type."""
    origin, parts = get_origin(kind), get_args(kind)
    simple: Mapping[Any, Any] = {
        str: text,
        bool: True,
        int: 2,
        datetime: NOW,
        Dialect: GENERIC,
        SecretStr: SecretStr("k" * 20),
    }
    found: Any
    if origin in {Union, types.UnionType}:
        found = made(next(one for one in parts if one is not type(None)), text)
    elif origin is Literal:
        found = parts[0]
    elif kind == tuple[str, ...]:
        found = (safe_line(text),)  # sentences, fit to be shown
    elif origin in SEQUENCES:
        found = [made(parts[0], text)] * 2
    elif origin in {dict, Mapping}:
        # Names, fit to be shown; or values of a form, which are checked already.
        found = {} if parts[1] is Any else {text: safe_line(text, 60)}
    elif kind in simple:
        found = simple[kind]
    elif issubclass(kind, ResponseModel):
        found = hostile_answer(kind, text)
    elif issubclass(kind, RequestModel):
        found = hostile_request(kind, text)
    else:
        assert dataclasses.is_dataclass(kind), f"how is a {kind} made hostile?"
        hints = get_type_hints(kind)
        found = kind(**{one.name: made(hints[one.name], text) for one in dataclasses.fields(kind)})
    return found


def plans_of(function: Callable[..., Any], text: str) -> Sequence[Plan[Any]]:
    hints = get_type_hints(function)
    hints.pop("return", None)
    found = function(**{name: made(kind, text) for name, kind in hints.items()})
    plans = [found] if isinstance(found, Plan) else [*found]
    assert all(isinstance(plan, Plan) for plan in plans)
    return plans


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_plan_is_shown_as_plain_text(name: str) -> None:
    for label, text in TEXTS.items():
        if not text.strip():
            continue  # no resource without an identifier is ever changed
        for plan in plans_of(FUNCTIONS[name], HALF.sub("\ufffd", text)):
            said = [plan.title, *plan.effects, *plan.obstacles]
            for one in plan.changes:
                said += [one.field, one.before or "", one.after or ""]
            for line in said:
                assert not dangerous(line), (label, line)
                assert len(line) < 5000, (label, line)
            # The ledger's and the audit log's lines are JSON without any other character.
            line = json.dumps({"summary": dict(plan.summary), "title": plan.title})
            assert line.isascii()
            assert line.isprintable()
