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
from gwtui.local.targets import TargetInfo
from gwtui.local.tokens import TokenError
from gwtui.resources.keys.writes import WRITES as KEY_WRITES
from gwtui.ui.app import GwtuiApp
from gwtui.ui.screens.dialogs import AskScreen, WaitScreen
from gwtui.ui.screens.picker import Picker
from harness import Harness, harness, has_data, line, listing, notices, until
from screen_text import screen_text

STAGING = TargetInfo("staging", "staging.example", "token file /k")
PRODUCTION = TargetInfo("production", "gw.example", "keyring", critical=True)
WATCHED = TargetInfo("production-watched", "gw.example", "keyring", read_only=True, critical=True)


class SwitchHarness:
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
async def switch_harness(
    folder: Path, *, size: tuple[int, int] = (120, 40), faults: FaultInjector | None = None
) -> AsyncIterator[SwitchHarness]:
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
        desk = SwitchHarness((staging, production), targets, folder)
        (folder / "state").mkdir(mode=0o700)
        (folder / "state" / FIRST_STEPS).touch(mode=0o600)
        connect = (await targets.find("staging")).connect
        desk.app = GwtuiApp(
            connect,
            clock=staging.clock,
            ledger=Ledger(folder / "audit.jsonl"),
            data=folder / "data",
            config=folder / "config",
            state=folder / "state",
            targets=targets,
        )
        del connect
        async with desk.app.run_test(size=size, notifications=True, tooltips=True) as pilot:
            desk.pilot = pilot
            await desk.on("staging")
            yield desk


async def test_a_profile_switch_frees_the_state_of_the_first_profile(tmp_path: Path) -> None:
    async with switch_harness(tmp_path) as desk:
        app, pilot = desk.app, desk.pilot
        references = await _settled_in(desk)
        tries, hub = app.tries, app.hub
        desk.type(":ctx prod<tab><enter>j")
        await desk.on("production")
        await at_rest(app)
        assert desk.targets.closed == ["staging"]
        assert hub._closed
        assert tries.typed is None
        assert app.tries is not tries
        assert (app.scope.workspace, app.scope_name) == (None, None)
        assert {row.key.name for row in listing(app).rows.read} == {"only-here", "second"}
        assert listing(app).table.selected.key.name == "second", "typed ahead, for the new list"
        assert [screen.resource for screen in app.navigation.screens] == ["keys"]
        assert await app.navigation.back() is False
        assert "staging" not in screen_text(app)
        _is_marked(desk, "production", read_only=False)
        assert "Switched to “production”: CRITICAL" in notices(app)
        del hub
        await until(
            pilot, lambda: _collected(references), "the end of session, token and screen", 20
        )
        await _and_back(desk)


async def _settled_in(desk: SwitchHarness) -> list[weakref.ref[Any]]:
    """Narrow a list, open screens, type a key; hold weak references to what must be freed."""
    app = desk.app
    await until(desk.pilot, lambda: app.session and app.session.completed.is_set(), "all of it")
    app.limit_to_workspace(listing(app).table.selected.key.workspace_id, "Narrow")
    await app.open_route("models")
    await until(desk.pilot, lambda: has_data(app), "the models")
    await app.open_route("keys")
    await until(desk.pilot, lambda: has_data(app), "the keys")
    app.tries.typed = SecretStr("gw-v1-typed-0123456789")
    return [weakref.ref(item) for item in (app.session, app.connection.token, listing(app))]


def _collected(references: Sequence[weakref.ref[Any]]) -> bool:
    gc.collect()
    return all(ref() is None for ref in references)


async def _and_back(desk: SwitchHarness) -> None:
    """Switch back, and to the same gateway in read-only mode."""
    app = desk.app
    desk.type(":ctx staging<enter>")
    await desk.on("staging")
    assert listing(app).table.model.total > 2
    desk.type(":ctx staging<enter>")
    await until(
        desk.pilot, lambda: desk.targets.closed == ["staging", "production", "staging"], "it"
    )
    await desk.on("staging")
    desk.type(":ctx production-w<enter>")
    await desk.on("production-watched")
    _is_marked(desk, "production-watched", read_only=True)
    assert app.hold_reason is not None


def _is_marked(desk: SwitchHarness, name: str, *, read_only: bool) -> None:
    header = screen_text(desk.app).splitlines()[0]
    assert f"CRITICAL  {name}" in header
    assert ("READ-ONLY" in header) is read_only


async def test_a_failed_profile_switch_keeps_the_current_profile(
    tmp_path: Path,
) -> None:
    async with switch_harness(tmp_path, size=(80, 24)) as desk:
        app, pilot = desk.app, desk.pilot
        session, screen = app.session, listing(app)
        await pilot.press("slash", *"prod", "enter")
        desk.type(":ctx keyless<enter>j")
        await at_rest(app)
        assert "“keyless” cannot be opened: there is no key for keyless" in notices(app)
        desk.type(":ctx nobody<enter>")
        await at_rest(app)
        assert "there is no profile 'nobody'" in notices(app)
        # The chooser shows the facts of each profile.
        desk.type(":ctx<enter>")
        await until(pilot, lambda: isinstance(app.screen, Picker), "the profiles")
        for words in ("staging.example", "token file /k", "keyring", "CRITICAL", "READ-ONLY"):
            await until(pilot, lambda words=words: words in screen_text(app), words)
        assert desk.staging.token not in screen_text(app)
        await pilot.press(*"keyl", "enter")
        await until(pilot, lambda: app.screen is screen, "the list")
        await at_rest(app)
        assert app.session is session
        assert listing(app) is screen
        assert screen.filtering.text == "prod"
        assert desk.targets.closed == []
        # A gateway that does not respond is opened anyway, and retried.
        await desk.production.stop()
        desk.type(":ctx production-w<enter>")
        await until(pilot, lambda: "Gateway unreachable" in screen_text(app), "the reason", 90)
        assert app.connection.label == "production-watched"
        assert desk.targets.closed == ["staging"]


async def test_a_profile_switch_asks_about_pending_and_unresolved_writes(
    tmp_path: Path,
) -> None:
    faults = FaultInjector()
    async with switch_harness(tmp_path, faults=faults) as desk:
        app, pilot = desk.app, desk.pilot
        released = asyncio.Event()
        await until(pilot, lambda: app.session and app.session.completed.is_set(), "all of it")
        plan = KEY_WRITES.plan_create(
            CreateKeyRequest(name="slow"), PlanContext(desk.staging.clock.now())
        )

        async def send_later(client: Any) -> Any:
            await released.wait()
            return await plan.send(client)

        executor: WriteExecutor = app.executor
        writing = asyncio.create_task(
            executor.execute(Confirmation(replace(plan, send=send_later), "form"))
        )
        await until(pilot, lambda: executor.in_flight, "the write")
        desk.type(":ctx production<enter>")
        await until(pilot, lambda: isinstance(app.screen, WaitScreen), "the wait")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, AskScreen), "the question")
        assert "A change is in progress" in screen_text(app)
        await pilot.press("enter")
        await at_rest(app)
        assert app.connection.label == "staging"
        released.set()
        await writing
        # Now a write whose response is lost.
        faults.arm("reset-after:writes x1")
        lost_plan = KEY_WRITES.plan_create(
            CreateKeyRequest(name="lost"), PlanContext(desk.staging.clock.now())
        )
        await executor.execute(Confirmation(lost_plan, "form"))
        desk.type(":ctx production<enter>")
        await until(pilot, lambda: isinstance(app.screen, AskScreen), "the question")
        assert "“staging” has 1 unresolved change" in screen_text(app)
        await pilot.press("y")
        await desk.on("production")
        assert line(listing(app), "banner") == "", "the unresolved write belongs to another gateway"
