"""Plans for hostile resources: the text of dialogs, ledger and audit log.

The arguments of every plan are made from its signature, so a new plan is covered without a change
here; an argument of an unknown type fails the test.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hostile_gateway import hostile_answer
from hostile_sinks import dangerous
from hostile_strings import CORPUS, HUGE, SMALL
from pydantic import SecretStr, ValidationError

import gwtui.resources
from gwtui.contract.byok import ByokCredential
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
from gwtui.contract.keys import ApiKey
from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.contract.workspaces import Workspace
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Plan
from gwtui.crud.plan_text import Names
from gwtui.crud.writes import Writes
from gwtui.domain.safe_text import safe_line
from gwtui.local.rotations import RotationFile
from gwtui.resources.assignments import KEYS, MEMBERS, plan_assign, plan_unassign
from gwtui.resources.guardrails.writes import WRITES as GUARDRAILS
from gwtui.resources.guardrails.writes import BoundBy
from gwtui.resources.recovery import declared_writes
from gwtui.resources.rotations import RotateRequest, RotationSource, plan_rotation
from gwtui.resources.workspaces import WorkspaceSurroundings
from gwtui.watch.feeds.guardrails import GuardrailRow
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
"""Lone surrogates, which the client replaces by U+FFFD."""
SEQUENCES = (Sequence, Iterable, Collection, list, tuple)


SHARED = (plan_assign, plan_unassign, plan_rotation)
"""Planners with parameters other than data."""


def plan_functions() -> Iterator[Callable[..., Any]]:
    for module in walk_packages(gwtui.resources.__path__, "gwtui.resources."):
        loaded = import_module(module.name)
        for name, found in vars(loaded).items():
            ours = inspect.isfunction(found) and found.__module__ == loaded.__name__
            if not ours or not name.startswith("plan_") or found in SHARED:
                continue
            if found.__annotations__["return"] != "str":  # the text about a plan is no plan
                yield found


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
    """A valid request with the text in every field that accepts it."""
    given = {
        name: REQUIRED[name] for name, item in model.model_fields.items() if item.is_required()
    }
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
    """A hostile value of a type; None for None."""
    origin, parts = get_origin(kind), get_args(kind)
    simple: Mapping[Any, Any] = {
        str: text,
        bool: True,
        int: 2,
        datetime: NOW,
        Dialect: GENERIC,
        SecretStr: SecretStr("k" * 20),
        None: None,
    }
    result: Any
    if origin in {Union, types.UnionType}:
        result = made(next(part for part in parts if part is not type(None)), text)
    elif origin is Literal:
        result = parts[0]
    elif kind == tuple[str, ...]:
        result = (safe_line(text),)  # sentences that are safe to display
    elif origin in SEQUENCES:
        result = [made(parts[0], text)] * 2
    elif origin in {dict, Mapping}:
        # Names that are safe to display, or validated form values.
        result = {} if parts[1] is Any else {text: safe_line(text, 60)}
    elif kind in simple:
        result = simple[kind]
    elif issubclass(kind, ResponseModel):
        result = hostile_answer(kind, text)
    elif issubclass(kind, RequestModel):
        result = hostile_request(kind, text)
    else:
        assert dataclasses.is_dataclass(kind), f"how is a {kind} made hostile?"
        hints = get_type_hints(kind)
        result = kind(
            **{field.name: made(hints[field.name], text) for field in dataclasses.fields(kind)}
        )
    return result


def plans_of(function: Callable[..., Any], text: str) -> Sequence[Plan[Any]]:
    hints = get_type_hints(function)
    hints.pop("return", None)
    result = function(**{name: made(kind, text) for name, kind in hints.items()})
    plans = [result] if isinstance(result, Plan) else [*result]
    assert all(isinstance(plan, Plan) for plan in plans)
    return plans


AROUND: Mapping[str, Any] = {
    "keys": tuple[str, ...],
    "byok": list[ByokCredential],
    "workspaces": WorkspaceSurroundings,
    "guardrails": BoundBy,
}
"""Resource -> the data read before one is disabled or deleted."""


def plans_of_engine(writes: Writes[Any], text: str) -> Iterator[Plan[Any]]:
    """The plans that the engine makes for a declaration."""
    at, names = PlanContext(NOW, made(Names, text)), (safe_line(text),)
    fresh = made(writes.model, text)
    around = made(AROUND.get(writes.resource), text)
    if writes.create is not None:
        yield writes.plan_create(hostile_request(writes.create.request, text), at, *names)
    if writes.update is not None:
        yield writes.plan_update(fresh, hostile_request(writes.update.request, text), at, names)
    if writes.switch is not None:
        yield writes.plan_switch(fresh, True, at, around)
    if writes.delete is not None:
        yield writes.plan_delete(fresh, at, around)


def plans_of_shared(text: str) -> Iterator[Plan[Any]]:
    guardrail, names = made(Guardrail, text), made(Names, text)
    for kind, model in ((KEYS, KeyAssignment), (MEMBERS, MemberAssignment)):
        held = made(list[model], text)
        yield plan_assign(kind, guardrail, names, held, names)
        yield plan_unassign(kind, guardrail, held, names)
    source = RotationSource(
        made(ApiKey, text),
        RotationFile(Path("/nowhere")),
        "",
        guardrail=guardrail,
        people=frozenset({"user_1"}),
    )
    yield plan_rotation(source, made(RotateRequest, text), PlanContext(NOW))
    unmade = GuardrailRow(guardrail, made(Workspace, text), exists=False)
    yield from plans_of_engine(GUARDRAILS.for_row(unmade, GENERIC), text)


PLANS: Mapping[str, Callable[[str], Iterable[Plan[Any]]]] = {
    **{
        f"{function.__module__}.{function.__name__}": partial(plans_of, function)
        for function in plan_functions()
    },
    **{name: partial(plans_of_engine, item) for name, item in declared_writes().items()},
    "shared": plans_of_shared,
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_shown_as_plain_text(name: str) -> None:
    for label, text in TEXTS.items():
        if not text.strip():
            continue  # resources without an identifier are never changed
        for plan in PLANS[name](HALF.sub("\ufffd", text)):
            said = [plan.title, *plan.effects, *plan.obstacles]
            for change in plan.changes:
                said += [change.field, change.before or "", change.after or ""]
            for line in said:
                assert not dangerous(line), (label, line)
                assert len(line) < 5000, (label, line)
            # Lines of the ledger and the audit log are pure JSON.
            line = json.dumps({"summary": dict(plan.summary), "title": plan.title})
            assert line.isascii()
            assert line.isprintable()
