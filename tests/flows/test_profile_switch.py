"""Switching profiles without a restart: no state of the first remains, nothing is lost."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from journeys import Terminal, at_rest, tokens
from pydantic import SecretStr
from switch_kit import SomeTargets, connection_to
from textual.pilot import Pilot

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import CreateKeyRequest
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Confirmation
from gwtui.embedded.faults import FaultInjector
from gwtui.local.first_steps import FIRST_STEPS_FILE as FIRST_STEPS
from gwtui.local.ledger import Ledger
from gwtui.local.targets import TargetFacts
from gwtui.local.tokens import TokenError
from gwtui.resources.keys.writes import WRITES as KEY_WRITES
from gwtui.ui.app import GwtuiApp
from gwtui.ui.screens.dialogs import AskScreen, WaitScreen
from gwtui.ui.screens.picker import Picker
from harness import Harness, harness, has_data, line, listing, notices, until
from screen_text import shown

STAGING = TargetFacts("staging", "staging.example", "token file /k")
PRODUCTION = TargetFacts("production", "gw.example", "keyring", critical=True)
WATCHED = TargetFacts("production-watched", "gw.example", "keyring", read_only=True, critical=True)


class Desk:
    """A dashboard on staging, which can switch to production."""

    def __init__(self, places: tuple[Harness, Harness], targets: SomeTargets, folder: Path) -> None:
        self.staging, self.production = places
        self.targets = targets
        self.folder = folder
        self.app: GwtuiApp
        self.pilot: Pilot[int]

    def type(self, keys: str) -> None:
        Terminal(self.app).write("".join(tokens(keys)))

    async def on(self, name: str) -> None:
        await until(
            self.pilot,
            lambda: self.app.session is not None and self.app.connection.label == name,
            f"a session on {name}",
        )
        await until(self.pilot, lambda: has_data(self.app), "its rows")


@asynccontextmanager
async def desk(
    folder: Path, *, size: tuple[int, int] = (120, 40), faults: FaultInjector | None = None
) -> AsyncIterator[Desk]:
    async with (
        harness(faults=faults) as staging,
        harness(content="empty", clock=staging.clock) as production,
    ):
        async with GatewayClient(connection_to(production, PRODUCTION)) as client:
            for name in ("only-here", "second"):
                await client.keys.create(CreateKeyRequest(name=name))
        targets = SomeTargets(
            [(STAGING, staging), (PRODUCTION, production), (WATCHED, production)],
            {"keyless": TokenError("there is no key for keyless")},
        )
        item = Desk((staging, production), targets, folder)
        (folder / "state").mkdir(mode=0o700)
        (folder / "state" / FIRST_STEPS).touch(mode=0o600)
        first = (await targets.find("staging")).connect
        item.app = GwtuiApp(
            first,
            clock=staging.clock,
            ledger=Ledger(folder / "audit.jsonl"),
            data=folder / "data",
            config=folder / "config",
            state=folder / "state",
            targets=targets,
        )
        del first
        async with item.app.run_test(size=size, notifications=True, tooltips=True) as pilot:
            item.pilot = pilot
            await item.on("staging")
            yield item


async def test_a_switch_leaves_nothing_of_the_first_profile(tmp_path: Path) -> None:
    async with desk(tmp_path) as one:
        app, pilot = one.app, one.pilot
        gone = await _settled_in(one)
        tries, hub = app.tries, app.hub
        one.type(":ctx prod<tab><enter>j")
        await one.on("production")
        await at_rest(app)
        assert one.targets.left == ["staging"]
        assert hub._closed
        assert tries.typed is None
        assert app.tries is not tries
        assert (app.scope.workspace, app.scope_name) == (None, None)
        assert {row.key.name for row in listing(app).rows.read} == {"only-here", "second"}
        assert listing(app).table.selected.key.name == "second", "typed ahead, for the new list"
        assert [screen.resource for screen in app.navigation.screens] == ["keys"]
        assert await app.navigation.back() is False
        assert "staging" not in shown(app)
        _is_marked(one, "production", read_only=False)
        assert "Switched to “production”: CRITICAL" in notices(app)
        del hub
        await until(pilot, lambda: _collected(gone), "the end of session, token and screen", 20)
        await _and_back(one)


async def _settled_in(one: Desk) -> list[weakref.ref[Any]]:
    """Narrow a list, open screens, type a key; hold weak references to what must be freed."""
    app = one.app
    await until(one.pilot, lambda: app.session and app.session.completed.is_set(), "all of it")
    app.narrow(listing(app).table.selected.key.workspace_id, "Narrow")
    await app.open_route("models")
    await until(one.pilot, lambda: has_data(app), "the models")
    await app.open_route("keys")
    await until(one.pilot, lambda: has_data(app), "the keys")
    app.tries.typed = SecretStr("gw-v1-typed-0123456789")
    return [weakref.ref(it) for it in (app.session, app.connection.token, listing(app))]


def _collected(gone: Sequence[weakref.ref[Any]]) -> bool:
    gc.collect()
    return all(ref() is None for ref in gone)


async def _and_back(one: Desk) -> None:
    """Switch back, and to the same gateway in read-only mode."""
    app = one.app
    one.type(":ctx staging<enter>")
    await one.on("staging")
    assert listing(app).table.model.total > 2
    one.type(":ctx staging<enter>")
    await until(one.pilot, lambda: one.targets.left == ["staging", "production", "staging"], "it")
    await one.on("staging")
    one.type(":ctx production-w<enter>")
    await one.on("production-watched")
    _is_marked(one, "production-watched", read_only=True)
    assert app.hold_reason is not None


def _is_marked(one: Desk, name: str, *, read_only: bool) -> None:
    header = shown(one.app).splitlines()[0]
    assert f"CRITICAL  {name}" in header
    assert ("READ-ONLY" in header) is read_only


async def test_a_profile_that_cannot_be_opened_leaves_the_present_one_as_it_is(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path, size=(80, 24)) as one:
        app, pilot = one.app, one.pilot
        session, screen = app.session, listing(app)
        await pilot.press("slash", *"prod", "enter")
        one.type(":ctx keyless<enter>j")
        await at_rest(app)
        assert "“keyless” cannot be opened: there is no key for keyless" in notices(app)
        one.type(":ctx nobody<enter>")
        await at_rest(app)
        assert "there is no profile 'nobody'" in notices(app)
        # The chooser shows the facts of each profile.
        one.type(":ctx<enter>")
        await until(pilot, lambda: isinstance(app.screen, Picker), "the profiles")
        for words in ("staging.example", "token file /k", "keyring", "CRITICAL", "READ-ONLY"):
            await until(pilot, lambda words=words: words in shown(app), words)
        assert one.staging.token not in shown(app)
        await pilot.press(*"keyl", "enter")
        await until(pilot, lambda: app.screen is screen, "the list")
        await at_rest(app)
        assert app.session is session
        assert listing(app) is screen
        assert screen.filtering.text == "prod"
        assert one.targets.left == []
        # A gateway that does not respond is opened anyway, and retried.
        await one.production.stop()
        one.type(":ctx production-w<enter>")
        await until(pilot, lambda: "Gateway unreachable" in shown(app), "the reason", 90)
        assert app.connection.label == "production-watched"
        assert one.targets.left == ["staging"]


async def test_a_write_on_its_way_or_unresolved_is_held_up_to_the_person_first(
    tmp_path: Path,
) -> None:
    faults = FaultInjector()
    async with desk(tmp_path, faults=faults) as one:
        app, pilot = one.app, one.pilot
        gate = asyncio.Event()
        await until(pilot, lambda: app.session and app.session.completed.is_set(), "all of it")
        plan = KEY_WRITES.plan_create(
            CreateKeyRequest(name="slow"), PlanContext(one.staging.clock.now())
        )

        async def held(client: Any) -> Any:
            await gate.wait()
            return await plan.send(client)

        executor: WriteExecutor = app.executor
        writing = asyncio.create_task(
            executor.execute(Confirmation(replace(plan, send=held), "form"))
        )
        await until(pilot, lambda: executor.in_flight, "the write")
        one.type(":ctx production<enter>")
        await until(pilot, lambda: isinstance(app.screen, WaitScreen), "the wait")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, AskScreen), "the question")
        assert "A change is in progress" in shown(app)
        await pilot.press("enter")
        await at_rest(app)
        assert app.connection.label == "staging"
        gate.set()
        await writing
        # Now a write whose response is lost.
        faults.arm("reset-after:writes x1")
        lost = KEY_WRITES.plan_create(
            CreateKeyRequest(name="lost"), PlanContext(one.staging.clock.now())
        )
        await executor.execute(Confirmation(lost, "form"))
        one.type(":ctx production<enter>")
        await until(pilot, lambda: isinstance(app.screen, AskScreen), "the question")
        assert "“staging” has 1 unresolved change" in shown(app)
        await pilot.press("y")
        await one.on("production")
        assert line(listing(app), "banner") == "", "that doubt is of another gateway"
