"""Every hostile text in views without a response of their own, in commands and in plans.

``test_hostile_rendering`` covers lists and screens; this module covers everything else that is
shown or printed. Huge texts are few and slow: sinks that fold lines get the small ones. The
arguments of every plan are made from its signature; an argument of an unknown type fails the test.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields
from datetime import datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import SimpleNamespace
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints
from unicodedata import category

import pytest
from hostile_gateway import CLOCK, NOW, Poison, Recording, Spoilt, hostile_answer
from hostile_sinks import HARMLESS, dangerous, figures, pane, raw, table
from hostile_strings import CORPUS, HUGE, SMALL
from pydantic import SecretStr, ValidationError
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

import gwtui.resources
from gwtui.cli.check import Finding, Severity, status_line
from gwtui.cli.lists.show import print_detail
from gwtui.cli.output import narrate, print_json, print_table
from gwtui.cli.whoami import key_summary
from gwtui.client import errors
from gwtui.client.connection import Connection
from gwtui.contract.byok import ByokCredential
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
from gwtui.contract.keys import ApiKey, CurrentKey
from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.contract.usage import GenerationContent
from gwtui.contract.workspaces import Workspace
from gwtui.crud.export import raw_object
from gwtui.crud.fields import FormContext, PickOption, PlanContext
from gwtui.crud.plan import Plan
from gwtui.crud.plan_text import Names
from gwtui.crud.resource import ResourceSpec
from gwtui.crud.writes import Writes
from gwtui.domain.safe_text import safe_characters, safe_line
from gwtui.local.ledger import AuditedChange, LedgerEntry
from gwtui.local.log import crash_report
from gwtui.local.rotations import RotationFile
from gwtui.resources import choices as offered
from gwtui.resources.alerts import ALERT_HISTORY, ALERTS
from gwtui.resources.assignments import KEYS, MEMBERS, plan_assign, plan_unassign
from gwtui.resources.audit import AUDIT
from gwtui.resources.guardrails.writes import WRITES, BoundBy
from gwtui.resources.guardrails.writes import WRITES as GUARDRAILS
from gwtui.resources.keys.current import THIS_KEY
from gwtui.resources.recovery import declared_writes
from gwtui.resources.rotations import RotateRequest, RotationSource, plan_rotation
from gwtui.resources.workspaces import WorkspaceRelatedData
from gwtui.ui.app import GwtuiApp
from gwtui.ui.connection_health import ConnectionHealth, error_text
from gwtui.ui.screens.objects import content_lines
from gwtui.ui.screens.picker import option_title
from gwtui.ui.terminal.app import ControlCharacterFilter
from gwtui.ui.widgets.frame import header_facts, header_parts
from gwtui.watch.alerts.model import Alert, AlertEvent, AlertKey
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.guardrails import GuardrailRow
from gwtui.watch.history.model import Subject
from gwtui.watch.hub import FeedHub
from thoroughness import FULL

Texts = Iterator[str]


def rows(spec: ResourceSpec[Any], item: Any) -> Texts:
    """Everything that a list of local data shows of one row."""
    entries = [*table(spec.columns, spec.identity, [item], spec.facets, "x")]
    entries += [*figures(spec.sections, item), *pane(spec.name(item), spec.sections, item)]
    entries += raw(spec.raw(item), item)
    return (entry.text for entry in entries if entry.sink != "facet")


def audit_log(text: str) -> Texts:
    """Whoever can write to its file can put anything there."""
    texts = [field.name for field in fields(LedgerEntry) if "str" in str(field.type)]
    values: dict[str, Any] = dict.fromkeys(texts, text)
    values |= {"at": NOW, "outcome": "unknown", "status": None}
    values |= {"changes": (AuditedChange(text, text, text),), "summary": {text: [text]}}
    return rows(AUDIT, LedgerEntry(**values))


def alerts(text: str) -> Texts:
    key, texts = AlertKey(text, Subject(text, text)), {"title": text, "name": text, "message": text}
    alert = Alert(key, **texts, fired_at=NOW, acknowledged_at=NOW, acknowledged_by=text)
    event = AlertEvent(NOW, "fired", key, "critical", **texts, who=text, id=1)
    yield from rows(ALERTS, alert)
    yield from rows(ALERT_HISTORY, event)


def content_of(text: str) -> GenerationContent:
    part = {"type": "text", "text": text, text: text}
    message = {"role": text, "content": [part, text, {text: text}, None, 7], text: text}
    content_input = {"prompt": text, "messages": [message, text, None], text: [text]}
    output = {"completion": text, "reasoning": text}
    body = {"input": content_input, "output": output, "error": {"message": text, text: text}}
    return GenerationContent.model_validate(body)


def generation(text: str) -> Texts:
    return (line.plain for line in content_lines(content_of(text), 60))


def header(text: str) -> Texts:
    app = GwtuiApp(nullcontext, clock=CLOCK)  # type: ignore[arg-type]
    connection = Connection(
        "https://gateway.test/api/v1", SecretStr("x"), label=text, token_source=text
    )
    gate, traffic = SimpleNamespace(closed=None), SimpleNamespace(silent=False)
    session: Any = SimpleNamespace(
        connection=connection, gateway=SimpleNamespace(gate=gate, traffic=traffic)
    )
    app.connection_manager.session = session
    for width in (80, 200):
        parts = header_parts(header_facts(app, "keys"), width)
        yield "".join(part.content.plain for part in parts)


KINDS = (
    *(errors.BadRequestError, errors.UnauthorizedError, errors.ForbiddenError),
    *(errors.RateLimitedError, errors.ServerError, errors.StatusError),
)


def refusals(text: str) -> Texts:
    for kind in KINDS:
        error = kind(text, status=418, request_id=text, metadata={text: text})
        state: FeedState[Any] = FeedState(error=error, retry_at=NOW)
        for line in (error_text(error), ConnectionHealth().banner([(text, state)], NOW)):
            assert len(line) < 400
            yield line


def option(text: str) -> Texts:
    yield option_title(PickOption(text))


def editor(text: str) -> Texts:
    """One harmless character per hostile one; letters and digits stay as they are."""
    escaped = safe_characters(text)
    assert len(escaped) == len(text)
    for original, displayed in zip(text, escaped, strict=True):
        assert displayed == original or not (original.isascii() and original.isprintable())
        assert displayed == original or not (displayed.isascii() and displayed.isalnum())
    yield "".join(character for character in escaped if character not in HARMLESS)


def control_filter(text: str) -> Texts:
    """The filter removes every dangerous character and keeps the length of a line."""
    line = [Segment("name  "), Segment(text[:500], Style(bold=True)), Segment(" " * 600)]
    cleaned = ControlCharacterFilter().apply(line, Color.parse("black"))
    assert Segment.get_line_length(cleaned) == Segment.get_line_length(line)
    text_on_screen = "".join(segment.text for segment in cleaned)
    assert text_on_screen.startswith("name  ")
    # Private and unassigned characters only look odd.
    yield "".join(
        c for c in text_on_screen if c not in HARMLESS and category(c) not in {"Co", "Cn"}
    )


def finding(text: str) -> Texts:
    yield status_line([Finding(Severity.WARNING, text)])


class DefectError(Exception):
    """An error that stands for a bug."""


def crash(text: str) -> Texts:
    try:
        raise DefectError(text)  # noqa: TRY301 - the report is about its place
    except DefectError as error:
        yield from crash_report(error).split("\n")


SINKS: Mapping[str, tuple[Callable[[str], Texts], Mapping[str, str]]] = {
    "audit log": (audit_log, dict(list(SMALL.items())[::3])),
    "alerts": (alerts, dict(list(SMALL.items())[::3])),
    "generation": (generation, {**SMALL, "huge words": HUGE["huge words"]}),
    "header": (header, dict(list(CORPUS.items())[::3])),
    "refusals": (refusals, SMALL),
    "option": (option, CORPUS),
    "editor": (editor, CORPUS),
    "control filter": (control_filter, CORPUS),
    "finding": (finding, SMALL),
    "crash report": (crash, SMALL),
}


@pytest.mark.parametrize("sink", SINKS)
def test_hostile_text_is_escaped_in_every_sink(sink: str) -> None:
    show, texts = SINKS[sink]
    for name, text in texts.items():
        for line in show(text):
            assert not dangerous(line), (name, line)


async def test_choices_show_hostile_text_safely() -> None:
    recording = Recording()
    texts = tuple(SMALL.values())
    poison = Poison(lambda name, value: texts[len(name + value) % len(texts)], deep=True)
    client = Spoilt(recording, poison, poison.real).client()
    hub = FeedHub(client, CLOCK)
    form = FormContext(hub, client, client.connection.dialect, CLOCK.now())
    rails = {field.name: field for field in WRITES.create_form(form).fields}
    for choices in (
        *(offered.providers(form), offered.models(form), offered.members(form), offered.keys(form)),
        *(rails["allowed_models"].choices, rails["allowed_providers"].choices),
    ):
        options = await choices()
        assert options
        assert not [item for item in options if dangerous(item.title + item.note)]
    await hub.close()
    await client.close()
    recording.close()


# The command line ---------------------------------------------------------------------------------


def test_commands_print_one_escaped_line_per_row(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([(name, text, "end") for name, text in CORPUS.items()])
    for text in CORPUS.values():
        narrate(text)
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == len(err.splitlines()) == len(CORPUS)
    assert all(line.endswith("end") for line in out.splitlines())
    for text in SMALL.values():
        key = CurrentKey.model_validate(dict.fromkeys(CurrentKey.model_fields, text))
        print_detail(THIS_KEY, key, NOW)
        print_json(raw_object(THIS_KEY, key))
        narrate(key_summary(key))
    out, err = (
        earlier + later for earlier, later in zip((out, err), capsys.readouterr(), strict=True)
    )
    assert not dangerous((out + err).replace("\n", ""))


def test_json_is_ascii_and_exact(capsys: pytest.CaptureFixture[str]) -> None:
    # The client rejects lone surrogates, and JSON would join two of them.
    texts = {
        name: text for name, text in SMALL.items() if "surrogate" not in name and "pair" not in name
    }
    print_json({"texts": texts})
    out = capsys.readouterr().out
    assert out.isascii()
    assert json.loads(out)["texts"] == texts


# Plans --------------------------------------------------------------------------------------------


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
        for name, function in vars(loaded).items():
            is_own = inspect.isfunction(function) and function.__module__ == loaded.__name__
            if not is_own or not name.startswith("plan_") or function in SHARED:
                continue
            if function.__annotations__["return"] != "str":  # the text about a plan is no plan
                yield function


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
    values = {
        name: REQUIRED[name] for name, item in model.model_fields.items() if item.is_required()
    }
    for name in model.model_fields:
        for value in (text, [text], True, None):
            try:
                model.model_validate({**values, name: value})
            except ValidationError:
                continue
            values[name] = value
            break
    return model.model_validate(values)


def hostile_value(kind: Any, text: str) -> Any:
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
        result = hostile_value(next(part for part in parts if part is not type(None)), text)
    elif origin is Literal:
        result = parts[0]
    elif kind == tuple[str, ...]:
        result = (safe_line(text),)  # sentences that are safe to display
    elif origin in SEQUENCES:
        result = [hostile_value(parts[0], text)] * 2
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
            **{
                field.name: hostile_value(hints[field.name], text)
                for field in dataclasses.fields(kind)
            }
        )
    return result


def plans_of(function: Callable[..., Any], text: str) -> Sequence[Plan[Any]]:
    hints = get_type_hints(function)
    hints.pop("return", None)
    result = function(**{name: hostile_value(kind, text) for name, kind in hints.items()})
    plans = [result] if isinstance(result, Plan) else [*result]
    assert all(isinstance(plan, Plan) for plan in plans)
    return plans


AROUND: Mapping[str, Any] = {
    "keys": tuple[str, ...],
    "byok": list[ByokCredential],
    "workspaces": WorkspaceRelatedData,
    "guardrails": BoundBy,
}
"""Resource -> the data read before one is disabled or deleted."""


def plans_of_engine(writes: Writes[Any], text: str) -> Iterator[Plan[Any]]:
    """The plans that the engine makes for a declaration."""
    context, names = PlanContext(NOW, hostile_value(Names, text)), (safe_line(text),)
    fresh = hostile_value(writes.model, text)
    related = hostile_value(AROUND.get(writes.resource), text)
    if writes.create is not None:
        yield writes.plan_create(hostile_request(writes.create.request, text), context, *names)
    if writes.update is not None:
        yield writes.plan_update(
            fresh, hostile_request(writes.update.request, text), context, names
        )
    if writes.switch is not None:
        yield writes.plan_switch(fresh, True, context, related)
    if writes.delete is not None:
        yield writes.plan_delete(fresh, context, related)


def plans_of_shared(text: str) -> Iterator[Plan[Any]]:
    guardrail, names = hostile_value(Guardrail, text), hostile_value(Names, text)
    for kind, model in ((KEYS, KeyAssignment), (MEMBERS, MemberAssignment)):
        assignments = hostile_value(list[model], text)
        yield plan_assign(kind, guardrail, names, assignments, names)
        yield plan_unassign(kind, guardrail, assignments, names)
    source = RotationSource(
        hostile_value(ApiKey, text),
        RotationFile(Path("/nowhere")),
        "",
        guardrail=guardrail,
        people=frozenset({"user_1"}),
    )
    yield plan_rotation(source, hostile_value(RotateRequest, text), PlanContext(NOW))
    not_set_up = GuardrailRow(guardrail, hostile_value(Workspace, text), exists=False)
    yield from plans_of_engine(GUARDRAILS.for_row(not_set_up, GENERIC), text)


PLANS: Mapping[str, Callable[[str], Iterable[Plan[Any]]]] = {
    **{
        f"{function.__module__}.{function.__name__}": partial(plans_of, function)
        for function in plan_functions()
    },
    **{name: partial(plans_of_engine, item) for name, item in declared_writes().items()},
    "shared": plans_of_shared,
}


@pytest.mark.parametrize("name", PLANS)
def test_plans_show_hostile_text_safely(name: str) -> None:
    for label, text in TEXTS.items():
        if not text.strip():
            continue  # resources without an identifier are never changed
        for plan in PLANS[name](HALF.sub("\ufffd", text)):
            lines = [plan.title, *plan.effects, *plan.obstacles]
            for change in plan.changes:
                lines += [change.field, change.before or "", change.after or ""]
            for line in lines:
                assert not dangerous(line), (label, line)
                assert len(line) < 5000, (label, line)
            # Lines of the ledger and the audit log are pure JSON.
            line = json.dumps({"summary": dict(plan.summary), "title": plan.title})
            assert line.isascii()
            assert line.isprintable()
