"""Every hostile text in everything that shows other people's texts.

``test_hostile_rendering`` covers lists and screens; this module covers everything else that is
shown or printed. Huge texts are few and slow: sinks that fold lines get the small ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import fields
from types import SimpleNamespace
from typing import Any
from unicodedata import category

import pytest
from hostile_gateway import CLOCK, NOW, Poison, Recording, Spoilt
from hostile_sinks import HARMLESS, dangerous, figures, pane, raw, table
from hostile_strings import CORPUS, HUGE, SMALL
from pydantic import SecretStr
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from gwtui.cli.check import Finding, Severity, one_line
from gwtui.cli.lists.show import print_detail
from gwtui.cli.output import narrate, print_json, print_table
from gwtui.cli.whoami import key_summary
from gwtui.client import errors
from gwtui.client.connection import Connection
from gwtui.contract.keys import CurrentKey
from gwtui.contract.usage import GenerationContent
from gwtui.crud.export import raw_object
from gwtui.crud.fields import FormContext, PickOption
from gwtui.crud.resource import ResourceSpec
from gwtui.domain.safe_text import safe_characters
from gwtui.local.ledger import AuditedChange, LedgerEntry
from gwtui.local.log import crash_report
from gwtui.resources import choices as offered
from gwtui.resources.alerts import ALERT_HISTORY, ALERTS
from gwtui.resources.audit import AUDIT
from gwtui.resources.guardrails.writes import WRITES
from gwtui.resources.keys.current import THIS_KEY
from gwtui.ui.app import GwtuiApp
from gwtui.ui.connection_health import ConnectionHealth, error_text
from gwtui.ui.screens.objects import content_lines
from gwtui.ui.screens.picker import option_title
from gwtui.ui.terminal.app import ControlCharacterFilter
from gwtui.ui.widgets.frame import header_facts, header_parts
from gwtui.watch.alerts.model import Alert, AlertEvent, AlertKey
from gwtui.watch.feed import FeedState
from gwtui.watch.history.model import Subject
from gwtui.watch.hub import FeedHub

Texts = Iterator[str]


def rows(spec: ResourceSpec[Any], item: Any) -> Texts:
    """Everything that a list of local data shows of one row."""
    shown = [*table(spec.columns, spec.identity, [item], spec.facets, "x")]
    shown += [*figures(spec.sections, item), *pane(spec.name(item), spec.sections, item)]
    shown += raw(spec.raw(item), item)
    return (entry.text for entry in shown if entry.sink != "facet")


def audit_log(text: str) -> Texts:
    """Whoever can write to its file can put anything there."""
    texts = [field.name for field in fields(LedgerEntry) if "str" in str(field.type)]
    given: dict[str, Any] = dict.fromkeys(texts, text)
    given |= {"at": NOW, "outcome": "unknown", "status": None}
    given |= {"changes": (AuditedChange(text, text, text),), "summary": {text: [text]}}
    return rows(AUDIT, LedgerEntry(**given))


def alerts(text: str) -> Texts:
    key, said = AlertKey(text, Subject(text, text)), {"title": text, "name": text, "message": text}
    alert = Alert(key, **said, fired_at=NOW, acknowledged_at=NOW, acknowledged_by=text)
    event = AlertEvent(NOW, "fired", key, "critical", **said, who=text, id=1)
    yield from rows(ALERTS, alert)
    yield from rows(ALERT_HISTORY, event)


def content_of(text: str) -> GenerationContent:
    part = {"type": "text", "text": text, text: text}
    message = {"role": text, "content": [part, text, {text: text}, None, 7], text: text}
    given = {"prompt": text, "messages": [message, text, None], text: [text]}
    output = {"completion": text, "reasoning": text}
    whole = {"input": given, "output": output, "error": {"message": text, text: text}}
    return GenerationContent.model_validate(whole)


def generation(text: str) -> Texts:
    return (line.plain for line in content_lines(content_of(text), 60))


def header(text: str) -> Texts:
    app = GwtuiApp(nullcontext, clock=CLOCK)  # type: ignore[arg-type]
    where = Connection("https://gateway.test/api/v1", SecretStr("x"), label=text, token_source=text)
    gate, traffic = SimpleNamespace(closed=None), SimpleNamespace(silent=False)
    session: Any = SimpleNamespace(
        connection=where, gateway=SimpleNamespace(gate=gate, traffic=traffic)
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
    shown = safe_characters(text)
    assert len(shown) == len(text)
    for before, after in zip(text, shown, strict=True):
        assert after == before or not (before.isascii() and before.isprintable())
        assert after == before or not (after.isascii() and after.isalnum())
    yield "".join(character for character in shown if character not in HARMLESS)


def last_wall(text: str) -> Texts:
    """Nothing dangerous passes it, and escapes do not make a line longer."""
    line = [Segment("name  "), Segment(text[:500], Style(bold=True)), Segment(" " * 600)]
    cleaned = ControlCharacterFilter().apply(line, Color.parse("black"))
    assert Segment.get_line_length(cleaned) == Segment.get_line_length(line)
    shown = "".join(segment.text for segment in cleaned)
    assert shown.startswith("name  ")
    # Private and unassigned characters only look odd.
    yield "".join(c for c in shown if c not in HARMLESS and category(c) not in {"Co", "Cn"})


def finding(text: str) -> Texts:
    yield one_line([Finding(Severity.WARNING, text)])


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
    "last wall": (last_wall, CORPUS),
    "finding": (finding, SMALL),
    "crash report": (crash, SMALL),
}


@pytest.mark.parametrize("sink", SINKS)
def test_a_hostile_text_is_shown_plainly(sink: str) -> None:
    show, texts = SINKS[sink]
    for name, text in texts.items():
        for line in show(text):
            assert not dangerous(line), (name, line)


async def test_what_can_be_picked() -> None:
    recording = Recording()
    texts = tuple(SMALL.values())
    poison = Poison(lambda name, value: texts[len(name + value) % len(texts)], deep=True)
    client = Spoilt(recording, poison, poison.real).client()
    hub = FeedHub(client, CLOCK)
    form = FormContext(hub, client, client.connection.dialect, CLOCK.now())
    rails = {field.name: field for field in WRITES.create_form(form).every_field()}
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


def test_commands_print_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
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
    out, err = (before + now for before, now in zip((out, err), capsys.readouterr(), strict=True))
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
