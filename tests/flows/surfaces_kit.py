"""Every screen and modal of the dashboard, and how to open it."""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import Screen

import gwtui.ui
from board_kit import Filled, at_rest
from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError, NoAnswerError
from gwtui.contract.keys import CreateKeyRequest
from gwtui.crud.bulk import BulkOperation, BulkPart, BulkPlan, BulkRun
from gwtui.crud.executor import WriteLog
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Change, Confirmation, Outcome, Plan, Refused, Unknown, bundle
from gwtui.domain.clock import Clock
from gwtui.local.ledger import Ledger
from gwtui.local.targets import TargetInfo
from gwtui.resources.keys.writes import WRITES as KEY_WRITES
from gwtui.ui.actions.app import STEPS, FirstStepsScreen, Step
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.progress import ProgressScreen
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.profile_switch import profile_picker
from gwtui.ui.screens.dialogs import AskScreen, WaitScreen
from gwtui.ui.widgets.lifetime import TerminalSized
from harness import MOMENT, Harness, all_fired, settled

LONG = "The quick brown fox jumps over the lazy dog, again and again. " * 6
ELSEWHERE = frozenset({"StartupScreen", "TooSmallScreen"})
"""Transient screens, through which each storm passes."""


@dataclass(frozen=True)
class Surface:
    """A start path and the keys to press; ``pushed`` is then opened above that screen.

    ``shows`` is the class name of the screen. Keys may be "type TEXT" and, in forms, "field NAME".
    ``same_at_any_size`` is whether the keys do the same at any terminal size.
    """

    shows: str
    start: str
    keys: tuple[str, ...] = ()
    pushed: Callable[[], Screen[Any]] | None = None
    recorded: bool = False
    watched: bool = False
    doubtful: bool = False
    toast: bool = False
    same_at_any_size: bool = True


def _profiles() -> Screen[Any]:
    targets = [
        TargetInfo("staging", "staging.example", "token file /home/ana/.secrets/staging"),
        TargetInfo("production", "gateway.example", "keyring", critical=True),
        TargetInfo("watched", "gateway.example", "keyring", read_only=True, critical=True),
        *(TargetInfo(f"lab {n}", f"{LONG[:40]}.example", LONG[:60]) for n in range(9)),
    ]
    return profile_picker(targets, "staging")


def _first_steps() -> Screen[Any]:
    return FirstStepsScreen(LONG, [*STEPS[:1], Step("list.filter", LONG, "used>=80%")])


def _progress() -> Screen[Any]:
    """A series of requests that are all refused, so that its results stay."""
    plans = {f"key-{n}": _disabling(f"key-{n}") for n in range(12)}

    async def replan(identity: str) -> Plan[Any]:
        return plans[identity]

    async def refuse(_confirmation: Confirmation[Any]) -> Outcome[Any]:
        return Refused(GatewayError(LONG))

    parts = tuple(BulkPart(identity, f"“{identity}”", plan) for identity, plan in plans.items())
    bundled = bundle(
        "Disable 12 keys",
        list(plans.values()),
        action="keys.toggle",
        resource="keys",
        identity=None,
    )
    operation = BulkOperation(
        action="keys.toggle", resource="keys", verb="Disable", noun="key", plan=replan
    )
    run = BulkRun(BulkPlan(operation, bundled, parts, ()), Confirmation(bundled, "dialog"), refuse)
    return ProgressScreen(run)


def _disabling(identity: str) -> Plan[None]:
    async def send(_client: Any) -> None: ...

    return Plan(
        action="keys.toggle",
        title=f"Disable key {identity}",
        resource="keys",
        identity=identity,
        send=send,
        changes=(Change("State", "enabled", "disabled"),),
    )


UNKNOWN_KEY = (
    "field prompt",
    "type two words",
    "field key",
    "type gw-v1-of-nobody-0123456789abcdef",
    "ctrl+s",
)
"""A refused request with an unknown key."""

SURFACES: dict[str, Surface] = {
    "keys": Surface("ResourceScreen", "keys"),
    "keys-filtered": Surface("ResourceScreen", "keys", ("slash", "type state:expired", "enter")),
    "keys-filter-mistake": Surface("ResourceScreen", "keys", ("slash", "type limit>>")),
    "keys-detail": Surface("ResourceScreen", "keys", ("d",), same_at_any_size=False),
    "keys-goto": Surface("ResourceScreen", "keys", ("colon", "type mod")),
    "models": Surface("ResourceScreen", "models"),
    "models-guardrails": Surface("ResourceScreen", "models", ("R",)),
    "endpoints": Surface("ResourceScreen", "models/northwind/atlas-large"),
    "all-endpoints": Surface("ResourceScreen", "all-endpoints"),
    "workspaces": Surface("ResourceScreen", "workspaces"),
    "members": Surface("ResourceScreen", "workspaces", ("m",)),
    "people": Surface("ResourceScreen", "organization"),
    "guardrails": Surface("ResourceScreen", "guardrails"),
    "assigned": Surface("ResourceScreen", "guardrails", ("m",)),
    "assignments": Surface("ResourceScreen", "assignments"),
    "byok": Surface("ResourceScreen", "byok"),
    "byok-detail": Surface("ResourceScreen", "byok", ("d",), same_at_any_size=False),
    "zdr": Surface("ResourceScreen", "zdr"),
    "providers": Surface("ResourceScreen", "providers"),
    "changes": Surface("ResourceScreen", "board", ("c",), recorded=True),
    "credits": Surface("CreditsScreen", "credits"),
    "credits-recorded": Surface("CreditsScreen", "credits", recorded=True),
    "activity": Surface("ActivityScreen", "activity"),
    "generation": Surface("GenerationScreen", "generation"),
    "current-key": Surface("CurrentKeyScreen", "key"),
    "board": Surface("BoardScreen", "board"),
    "board-recorded": Surface("BoardScreen", "board", recorded=True),
    "board-past": Surface("BoardScreen", "board", ("at", "type 07:00", "enter"), recorded=True),
    "unresolved": Surface("ResourceScreen", "recovery", ("escape",), doubtful=True),
    "evidence": Surface("RecoveryScreen", "recovery", ("escape", "enter"), doubtful=True),
    "alerts": Surface("ResourceScreen", "alerts", watched=True),
    "findings": Surface("ResourceScreen", "findings"),
    "key-rotate": Surface("FormScreen", "keys", ("N",)),
    "alert-rules": Surface("ResourceScreen", "alerts", ("e",), watched=True),
    "alert-rule": Surface("AlertRuleScreen", "alerts", ("e", "e"), watched=True),
    "raw": Surface("ReadingScreen", "keys", ("v",)),
    "copy": Surface("Picker", "keys", ("y",)),
    "help": Surface("SearchPage", "keys", ("question_mark",)),
    "help-search": Surface("SearchPage", "keys", ("question_mark", "slash", "type mark")),
    "palette": Surface("Picker", "keys", ("ctrl+p",)),
    "palette-typed": Surface("Picker", "keys", ("ctrl+p", "type key")),
    "sort": Surface("Picker", "keys", ("s",)),
    "columns": Surface("ColumnsScreen", "keys", ("vertical_line",), same_at_any_size=False),
    "workspace-chooser": Surface("Picker", "keys", ("w",)),
    "themes": Surface("Picker", "keys", ("t",)),
    "profiles": Surface("Picker", "keys", pushed=_profiles),
    "remaining": Surface("SearchPage", "guardrails", ("E",)),
    "key-form": Surface("FormScreen", "keys", ("n", "type nightly", "tab", "type 25")),
    "key-form-refused": Surface("FormScreen", "keys", ("n", "tab", "type -5x", "ctrl+s")),
    "key-form-chooser": Surface("Picker", "keys", ("n", "field workspace_id", "enter")),
    "key-edit": Surface("FormScreen", "keys", ("e",)),
    "key-leaving": Surface("AskScreen", "keys", ("n", "type nightly", "escape")),
    "key-created": Surface(
        "SecretScreen", "keys", ("n", "type nightly", "tab", "type 25", "ctrl+s")
    ),
    "key-disable": Surface("ConfirmScreen", "keys", ("x",)),
    "key-delete": Surface("ConfirmScreen", "keys", ("D",)),
    "workspace-form": Surface("FormScreen", "workspaces", ("n", "type My Team")),
    "workspace-edit": Surface("FormScreen", "workspaces", ("e",)),
    "workspace-budgets": Surface("FormScreen", "workspaces", ("b",)),
    "workspace-delete": Surface("ConfirmScreen", "workspaces", ("D",)),
    "members-add": Surface("PickScreen", "workspaces", ("m", "n")),
    "builtin-filters": Surface(
        "FormScreen", "guardrails", ("n", "field content_filter_builtins", "enter")
    ),
    "custom-filters": Surface("FormScreen", "guardrails", ("n", "field content_filters", "enter")),
    "models-allowed": Surface("PickScreen", "guardrails", ("n", "field allowed_models", "enter")),
    "provider": Surface("Picker", "byok", ("n", "field provider", "ctrl+o")),
    "guardrail-form": Surface("GuardrailFormScreen", "guardrails", ("n",)),
    "guardrail-edit": Surface("GuardrailFormScreen", "guardrails", ("e",)),
    "guardrail-delete": Surface("ConfirmScreen", "guardrails", ("D",)),
    "byok-form": Surface("FormScreen", "byok", ("n",)),
    "byok-replace-key": Surface("FormScreen", "byok", ("N",)),
    "try": Surface("TryScreen", "models", ("down", "T")),
    "try-answer": Surface(
        "AnswerScreen", "models", ("down", "T", *UNKNOWN_KEY), same_at_any_size=False
    ),
    "progress": Surface("ProgressScreen", "keys", pushed=_progress),
    "wait": Surface(
        "WaitScreen",
        "keys",
        pushed=lambda: WaitScreen("Waiting", LONG, asyncio.Event().wait, enough="Leave now"),
    ),
    "ask": Surface(
        "AskScreen", "keys", pushed=lambda: AskScreen("Go?", LONG, safe="No", deliberate="Yes")
    ),
    "notice": Surface(
        "AskScreen", "keys", pushed=lambda: AskScreen("Read this", LONG, deliberate="On")
    ),
    "first-steps": Surface("FirstStepsScreen", "keys", pushed=_first_steps),
    "keys-toast": Surface("ResourceScreen", "keys", toast=True),
    "key-form-toast": Surface("FormScreen", "keys", ("n",), toast=True),
}


def all_screens() -> set[str]:
    """The class names of all screens, without base classes."""
    for module in pkgutil.walk_packages(gwtui.ui.__path__, "gwtui.ui."):
        importlib.import_module(module.name)
    screens, todo = set[type[Any]](), [*TerminalSized.__subclasses__()]
    while todo:
        screen = todo.pop()
        if screen.__module__.startswith("gwtui."):
            screens.add(screen)
        todo += screen.__subclasses__()
    bases = {base for screen in screens for base in screen.__mro__[1:]}
    return {screen.__name__ for screen in screens - bases} - ELSEWHERE


@asynccontextmanager
async def opened(
    surface: Surface, size: Size, filled: Filled, folder: Path
) -> AsyncIterator[tuple[Pilot[int], GwtuiApp]]:
    """A dashboard at this terminal size that shows the surface, at rest."""
    demo = Harness()
    await asyncio.to_thread(folder.mkdir)
    try:
        if surface.doubtful:
            await asyncio.to_thread(_leave_unresolved, demo)
        data = None
        if surface.recorded:
            data = filled.copy_to(folder / "data")
        elif surface.watched:
            data = folder / "data"
        app = demo.make_app(surface.start, data=data, config=folder if surface.watched else None)
        async with app.run_test(size=size, notifications=True) as pilot:
            await _go(pilot, app, surface)
            assert type(app.screen).__name__ == surface.shows, type(app.screen).__name__
            yield pilot, app
    finally:
        demo.close()


async def _go(pilot: Pilot[int], app: GwtuiApp, surface: Surface) -> None:
    await _come_to_rest(pilot, app)
    if surface.watched:
        await all_fired(pilot)
    for key in surface.keys:
        verb, _, text = key.partition(" ")
        if verb == "field":
            app.screen.query_one(f"#field-{text}", FieldRow).editor.focus()
        else:
            await pilot.press(*(text if verb == "type" else [key]))
        await _come_to_rest(pilot, app)
    app.clear_notifications()
    if surface.pushed is not None:
        await app.push_screen(surface.pushed())
    if surface.toast:
        app.notify(LONG, title="Notice", timeout=3600)
    await _come_to_rest(pilot, app)


async def _come_to_rest(pilot: Pilot[int], app: GwtuiApp) -> None:
    screen = app.navigation.screen
    await (at_rest(pilot) if screen is not None and screen.resource == "board" else settled(pilot))
    await asyncio.sleep(0.3 if app.session is not None and app.session.recorder else 0.02)
    await settled(pilot)


def _leave_unresolved(demo: Harness) -> None:
    """A key that may have been created."""
    connection = Connection(
        "http://demo/api/v1", SecretStr(demo.token), label="demo", allow_plain_http=True
    )
    sent_at = MOMENT - timedelta(minutes=4)
    write_log = WriteLog(
        connection, Ledger(demo.folder / "audit.jsonl"), Clock(now=lambda: sent_at)
    )
    confirmation = Confirmation(
        KEY_WRITES.plan_create(CreateKeyRequest(name="nightly"), PlanContext(sent_at)), "form"
    )
    object.__setattr__(confirmation.plan, "id", f"{1:032x}")
    write_log.announce(confirmation)
    write_log.record(confirmation, Unknown(NoAnswerError("the connection broke")))
