"""Changing each declared resource in the dashboard: its keys and forms.

``service/test_every_resource`` proves what is sent for each field and verb.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot

from action_handlers_kit import action_harness, distinct
from declared_kit import SPECS, verbs_of, writes_of
from gwtui.client.connection import Connection
from gwtui.crud.action import Action
from gwtui.crud.evidence import alike
from gwtui.embedded.hosting import host_on_socket
from gwtui.local.ledger import Ledger
from gwtui.resources.actions import by_id
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.field_editors import TextEditor
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.row import FieldRow
from harness import dashboard, listing, notices, until
from screen_text import screen_text
from writes_kit import CLOCK, FaultWorld


@pytest.fixture(scope="module")
def world() -> Iterator[FaultWorld]:
    fault_world = FaultWorld()
    yield fault_world
    fault_world.close()


@asynccontextmanager
async def at_dashboard(
    world: FaultWorld, folder: Path, start: str, *, read_only: bool = False
) -> AsyncIterator[tuple[GwtuiApp, Pilot[int]]]:
    """The dashboard with the list of the resource."""
    path = folder / "s" / "gateway.sock"

    @asynccontextmanager
    async def connect(*, read_only: bool, **_: Any) -> AsyncIterator[Connection]:
        yield Connection(
            "http://localhost/api/v1", world.token, socket_path=path, read_only=read_only
        )

    ledger = Ledger(folder / "audit.jsonl")
    place: Any = SimpleNamespace(clock=CLOCK, connect=connect, ledger=ledger)
    async with (
        host_on_socket(world.gateway, path),
        dashboard(place, start=start, read_only=read_only) as (app, pilot),
    ):
        yield app, pilot


def action_of(resource: str, verb: str) -> Action:
    return by_id(f"{resource}.{verb}")


async def type_in(pilot: Pilot[int], form: FormScreen[Any], name: str, value: Any) -> None:
    """Type a text, or select the next choice."""
    row = form.query_one(f"#field-{name}", FieldRow)
    row.editor.focus()
    await pilot.pause()
    editors = row.query(TextEditor)
    if editors:
        await pilot.press("end", *["backspace"] * len(editors.first().value), *value)
    else:
        await pilot.press("space")
    await pilot.pause()


@pytest.mark.parametrize("resource", SPECS)
async def test_an_edit_with_a_conflict_is_confirmed_and_sent(
    world: FaultWorld, tmp_path: Path, resource: str
) -> None:
    edit = action_of(resource, "edit")
    async with (
        action_harness(world, resource, tmp_path / "desk") as desk,
        at_dashboard(world, tmp_path, edit.scope) as (app, pilot),
    ):
        result = await distinct(desk)
        name = desk.writes.fields.editable[0]
        value, *conflicting = await desk.others(name) if result is None else result[1]
        name = name if result is None else result[0]
        original = (await desk.known())[name]
        if edit.target:
            listing(app).table.select(desk.spec.identity(desk.row))
            await pilot.pause()
        await pilot.press(edit.keys[0])
        await until(pilot, lambda: isinstance(app.screen, FormScreen), "the form")
        form: Any = app.screen
        await type_in(pilot, form, name, value)
        if conflicting:
            await desk.colleague_sets(**{name: conflicting[0]})
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen), "the plan")
        text, label = " ".join(screen_text(app).split()), desk.writes.fields.labels[name]
        assert label in text
        if conflicting:
            words = desk.writes.fields.formatter(desk.plan_context)
            conflict = f"{words(name, original)} → {words(name, conflicting[0])}"
            assert f"{label} was changed by somebody else: {conflict}. Your value" in text
        await pilot.press("y")
        await until(pilot, lambda: app.screen is listing(app), "the list")
        await until(pilot, lambda: "changed" in notices(app), "the notice")
        assert alike((await desk.known())[name], value)
        entries = list(Ledger(tmp_path / "audit.jsonl").entries())[::-1]
        assert [entry.outcome for entry in entries] == ["intent", "applied"]
        assert entries[0].summary.keys() == {name}


async def test_a_read_only_dashboard_refuses_every_write(world: FaultWorld, tmp_path: Path) -> None:
    world.begin()
    first_start, *_ = starts = {action_of(resource, "edit").scope: resource for resource in SPECS}
    async with at_dashboard(world, tmp_path, first_start, read_only=True) as (app, pilot):
        for start, resource in starts.items():
            await app.open_route(start)
            await until(pilot, lambda start=start: listing(app).resource == start, start)
            await until(pilot, lambda: listing(app).table.model.total, "rows")
            actions = [action_of(resource, verb) for verb in verbs_of(writes_of(resource))]
            assert not {item.id for item in actions} & {
                hint.id for hint in app.footer_actions([start])
            }
            app.clear_notifications()
            for action in actions:
                await pilot.press(action.keys[0])
            last_refusal = f"{actions[-1].title}: this session is read-only"
            await until(
                pilot,
                lambda last_refusal=last_refusal: last_refusal in notices(app),
                "the last refusal",
            )
            assert app.screen is listing(app)
            for action in actions:
                assert f"{action.title}: this session is read-only" in notices(app)
    assert {method for method, _ in world.requests} == {"GET"}
    assert not list(Ledger(tmp_path / "audit.jsonl").entries())
