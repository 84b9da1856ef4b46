"""Hostile texts around the lists: header, banner, audit log, what a generation read and wrote."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest
from hostile_gateway import CLOCK, NOW, Poison, Recording, Spoilt
from hostile_sinks import Shown, dangerous, figures, pane, raw, table
from hostile_strings import CORPUS, HUGE, SMALL
from pydantic import SecretStr

from gwtui.client import errors
from gwtui.client.connection import Connection
from gwtui.contract.usage import GenerationContent
from gwtui.crud.fields import FormContext, PickOption
from gwtui.local.ledger import AuditedChange, LedgerEntry
from gwtui.resources import choices as offered
from gwtui.resources.alerts import ALERT_HISTORY, ALERTS
from gwtui.resources.audit import AUDIT
from gwtui.resources.guardrails.writes import WRITES
from gwtui.ui.app import GwtuiApp
from gwtui.ui.connection_health import ConnectionHealth, error_text
from gwtui.ui.screens.generation import content_lines
from gwtui.ui.screens.picker import option_title
from gwtui.ui.terminal.modes import TerminalTitle
from gwtui.ui.widgets.frame import header_facts, header_parts
from gwtui.watch.alerts.model import Alert, AlertEvent, AlertKey
from gwtui.watch.feed import FeedState
from gwtui.watch.history.model import Subject
from gwtui.watch.hub import FeedHub

TEXTS = tuple(SMALL.values())


def assert_plain(shown: Iterator[Shown]) -> None:
    for one in shown:
        if one.sink != "facet":
            assert not dangerous(one.text), one


def test_the_audit_log() -> None:
    """Its file lies on a disk: whoever can write to it can put anything there."""
    texts = [field.name for field in fields(LedgerEntry) if "str" in str(field.type)]
    entries = []
    for number, text in enumerate(SMALL.values()):
        given: dict[str, Any] = dict.fromkeys(texts, text)
        given |= {"id": f"{number}", "at": NOW, "outcome": "unknown", "status": None}
        given |= {"changes": (AuditedChange(text, text, text),), "summary": {text: [text]}}
        entries.append(LedgerEntry(**given))
    assert_plain(table(AUDIT.columns, AUDIT.identity, entries, AUDIT.facets, "x"))
    for entry in entries[::7]:
        assert_plain(figures(AUDIT.sections, entry))
        assert_plain(pane(AUDIT.name(entry), AUDIT.sections, entry))
        assert_plain(raw(AUDIT.raw(entry), entry))


def test_alerts_and_what_happened_with_them() -> None:
    alerts, events = [], []
    for number, text in enumerate(SMALL.values()):
        key = AlertKey(text, Subject(text, f"{text}{number}"))
        said = {"title": text, "name": text, "said": text}
        alerts.append(Alert(key, **said, fired_at=NOW, acknowledged_at=NOW, acknowledged_by=text))
        events.append(AlertEvent(NOW, "fired", key, "critical", **said, who=text, id=number))
    for spec, items in ((ALERTS, alerts), (ALERT_HISTORY, events)):
        assert_plain(table(spec.columns, spec.identity, items, spec.facets, "x"))
        for item in items[::7]:
            assert_plain(figures(spec.sections, item))
            assert_plain(pane(spec.name(item), spec.sections, item))
            assert_plain(raw(spec.raw(item), item))


def test_the_title_of_the_window_is_one_plain_line() -> None:
    for text in CORPUS.values():
        written: list[str] = []
        driver: Any = SimpleNamespace(write=written.append, flush=lambda: None)
        TerminalTitle().show(driver, f"3 alerts {text}")
        found = re.fullmatch(r"\x1b\[22;2t\x1b\]2;(.*)\x1b\\", "".join(written))
        assert found is not None
        assert not dangerous(found[1])


def content_of(text: str) -> GenerationContent:
    part = {"type": "text", "text": text, text: text}
    message = {"role": text, "content": [part, text, {text: text}, None, 7], text: text}
    return GenerationContent.model_validate(
        {
            "input": {"prompt": text, "messages": [message, text, None], text: [text]},
            "output": {"completion": text, "reasoning": text},
            "error": {"message": text, text: text},
        }
    )


def test_what_a_generation_read_and_wrote() -> None:
    for name, text in SMALL.items():
        for line in content_lines(content_of(text), 60):
            assert not dangerous(line.plain), (name, line.plain)


@pytest.mark.parametrize("name", ["huge newlines", "huge wide", "huge combining"])
def test_a_huge_generation_is_folded_soon(name: str) -> None:
    started = time.process_time()
    lines = content_lines(content_of(HUGE[name]), 76)
    assert time.process_time() - started < 6
    assert len(lines) < 210_000
    assert not any(dangerous(line.plain) for line in lines)


def test_the_header_names_a_hostile_place_plainly() -> None:
    app = GwtuiApp(nullcontext, clock=CLOCK)  # type: ignore[arg-type]
    for name, text in CORPUS.items():
        connection = Connection(
            "https://gateway.test/api/v1", SecretStr("x"), label=text, token_source=text
        )
        gate, traffic = SimpleNamespace(closed=None), SimpleNamespace(silent=False)
        gateway = SimpleNamespace(gate=gate, traffic=traffic)
        session: Any = SimpleNamespace(connection=connection, gateway=gateway)
        app.connection_manager.session = session
        facts = header_facts(app, "keys")
        for width in (80, 200):
            line = "".join(part.content.plain for part in header_parts(facts, width))
            assert not dangerous(line), name


KINDS: tuple[type[errors.StatusError], ...] = (
    errors.BadRequestError,
    errors.UnauthorizedError,
    errors.ForbiddenError,
    errors.RateLimitedError,
    errors.ServerError,
    errors.StatusError,
)


def test_errors_in_a_few_words() -> None:
    health = ConnectionHealth()
    for text in SMALL.values():
        for kind in KINDS:
            error = kind(text, status=418, request_id=text, metadata={text: text})
            state: FeedState[Any] = FeedState(error=error, retry_at=NOW)
            for line in (error_text(error), health.banner([(text, state)], NOW)):
                assert not dangerous(line), line
                assert len(line) < 400


def test_an_option_without_a_name_shows_its_value_plainly() -> None:
    for text in CORPUS.values():
        assert not dangerous(option_title(PickOption(text)))


async def test_what_can_be_picked() -> None:
    recording = Recording()
    poison = Poison(lambda name, value: TEXTS[len(name + value) % len(TEXTS)], deep=True)
    client = Spoilt(recording, poison, poison.real).client()
    hub = FeedHub(client, CLOCK)
    form = FormContext(hub, client, client.connection.dialect, CLOCK.now())
    rails = {field.name: field for field in WRITES.create_form(form).every_field()}
    models, providers = rails["allowed_models"], rails["allowed_providers"]
    found = []
    for choices in (
        offered.providers(form),
        offered.models(form),
        offered.members(form),
        offered.keys(form),
        models.choices,
        providers.choices,
    ):
        options = await choices()
        assert options
        found += options
    for option in found:
        assert not dangerous(option.title)
        assert not dangerous(option.note)
    await hub.close()
    await client.close()
    recording.close()
