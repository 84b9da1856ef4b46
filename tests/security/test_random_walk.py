"""Random walks over the dashboard: no crash, and no write without confirmation."""

from __future__ import annotations

import asyncio
import random
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from textual import events
from textual.pilot import Pilot
from textual.widgets import Button

from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.keys import CreateKeyRequest, UpdateKeyRequest
from gwtui.crud.plan import Applied, Confirmation, Outcome, Plan
from gwtui.resources import actions as registry
from gwtui.resources.registry import PARENTS, PLACES
from gwtui.ui.actions import bulk, recovery, writing
from gwtui.ui.actions.context import ActionContext
from gwtui.ui.app import GwtuiApp
from gwtui.ui.commands import offered
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.field_editors import TextEditor
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.forms.secret import SecretScreen
from gwtui.ui.input_queue import ACTIONS, OPENING, SUBMITTING
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.resource import ResourceScreen
from harness import Harness, dashboard, harness, until
from screen_text import screen_text
from thoroughness import FULL, SEED

BASE_URL = "https://gateway.test/api/v1"

Arrived = Callable[[str, str], None]
"""Called with method and path of each request on arrival, before it is handled."""


@dataclass(repr=False)
class WalkSite(Harness):
    """One gateway for one walk. ``requests`` counts the dashboard's requests by method."""

    requests: Counter[str] = field(default_factory=Counter)
    arrived: Arrived = lambda _method, _path: None

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.requests[scope["method"]] += 1
            self.arrived(scope["method"], scope["path"])
        await super().answer(scope, receive, send)

    @asynccontextmanager
    async def colleague(self) -> AsyncIterator[GatewayClient]:
        """A second administrator, whose requests are not counted."""
        token = SecretStr(self.gateway.issue_key(management=True, name="colleague"))
        connection, http = Connection(BASE_URL, token), httpx.ASGITransport(self.gateway.asgi)
        transport = Transport(connection, clock=self.clock, http=http)
        async with GatewayClient(connection, clock=self.clock, transport=transport) as client:
            yield client


# The walk -----------------------------------------------------------------------------------------


SIZES = ((80, 24), (120, 40), (60, 20), (200, 50), (110, 30), (81, 25))
PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:;-_/<>?!*#@%&[](){}'\"\\"
SPECIAL = (
    *("enter", "escape", "tab", "shift+tab", "space", "backspace", "delete", "up", "down"),
    *("left", "right", "pageup", "pagedown", "home", "end", "ctrl+s", "ctrl+p", "ctrl+z"),
    *("ctrl+n", "ctrl+o", "ctrl+home", "ctrl+end", "f1", "ctrl+a", "ctrl+k", "shift+down"),
)
TYPED = (
    *("ci", "laptop [b]", "25", "0", "-3", "1,000.50", "30 days", "2027-01-01", "team-x"),
    *("northwind", "sk-pro-0123456789", "é漢🙂", "gw-[0-9]+", "(", "daily", "a" * 5000),
    *("two\nlines", "\x1b[31mred\x07", "\t\r", "vendor/model"),
)
CHANGING = ("keys", "workspaces", "guardrails", "byok", "assignments", "organization")
"""Screens with changes."""
FITTING = {
    **dict.fromkeys(("name", "slug"), "walk-{}"),
    **dict.fromkeys(("limit", "limit_usd"), "25"),
    **dict.fromkeys(("user_ids", "key_hashes", "member_user_ids"), " "),
    "daily": "2",
    "description": "d{}",
    "provider": "northwind",
    "key": "sk-walk-0123456789",
}
"""Text to type into a field, by its name."""
MOST_HOPS = 40
"""Maximum turns of the event loop between two events."""


def key_event(name: str) -> events.Key:
    character = " " if name == "space" else name
    if len(character) != 1:
        return events.Key(name, None)
    key_name = "space" if character == " " else events.Key(character, character).name
    return events.Key(character if character.isalnum() else key_name, character)


Move = tuple[int, Callable[[], Awaitable[None]]]
"""A relative frequency, and the move."""


class Walk:
    """One walk over a running dashboard; ``log`` has its last actions."""

    def __init__(self, pilot: Pilot[Any], seed: int, *also: Move) -> None:
        assert isinstance(pilot.app, GwtuiApp)
        self.app = pilot.app
        self.pilot = pilot
        self.random = random.Random(seed)
        self.events = 0
        self.log: deque[str] = deque(maxlen=40)
        self._quit = self.app.exit
        self.app.exit = lambda *_, **__: None  # type: ignore[method-assign]
        keys = {key for action in registry.all_actions() for key in action.keys}
        self._keys = sorted(keys - {"ctrl+c", "ctrl+q"})
        self.moves: tuple[Move, ...] = (
            *also,
            (22, lambda: self.press(self.random.choice(self._keys))),
            (10, lambda: self.press(self.random.choice(SPECIAL))),
            (6, lambda: self.press(*self.random.choices(PLAIN, k=self.random.choice((1, 2, 5))))),
            (8, self._go),
            (6, self._pick),
            (14, self._click),
            (16, self._answer),
            (10, self._fill),
            (2, lambda: self.pilot.resize_terminal(*self.random.choice(SIZES))),
            (4, lambda: asyncio.sleep(self.random.choice((0.005, 0.02, 0.06)))),
        )

    async def walk(self, event_count: int) -> None:
        """Walk until this many events were posted. Raises AssertionError if the program stopped."""
        weights, moves = zip(*self.moves, strict=True)
        try:
            while self.events < event_count:
                (move,) = self.random.choices(moves, weights)
                await move()
                self._check()
        except BaseException:
            print("\n".join(["the last steps:", *self.log]))
            raise

    def _check(self) -> None:
        app = self.app
        if app._exception is not None or app.crash is not None or not app.is_running:
            raise AssertionError("the program stopped") from app._exception

    async def press(self, *keys: str) -> None:
        """Press keys, sometimes all in one burst."""
        burst = self.random.random() < 0.5
        for key in keys:
            await self._post(key_event(key), key, burst=burst)
        await self._breathe()

    async def _post(self, event: events.Event, description: str, *, burst: bool = False) -> None:
        self.events += 1
        self.log.append(f"{type(self.app.screen).__name__}: {description}")
        self.app.post_message(event)
        if not burst:
            await self._breathe()

    async def _breathe(self) -> None:
        """Let posted events be handled, for a bounded time."""
        for hop in range(MOST_HOPS):
            await asyncio.sleep(0 if hop < 16 else 0.002)
            if hop > 8 and self.app._message_queue.empty() and not self.app._typed.pending:
                return

    # Moves ------------------------------------------------------------------------------------

    async def _go(self) -> None:
        """Open a screen by its path, or a visible row."""
        routes = [*PLACES, *PARENTS]
        screen = self.app.navigation.screen
        if isinstance(screen, ResourceScreen) and screen.table.model.order:
            row = self.random.choice(screen.table.model.order)
            children = [child for child, parent in PARENTS.items() if parent == screen.resource]
            routes = [
                routes[0],
                f"{screen.resource}/{row}",
                *(f"{child}/{row}" for child in children),
            ]
        await self.press(":", *self.random.choice(routes)[:80], "enter")

    async def _pick(self) -> None:
        """Choose an action by name."""
        screen = self.app.navigation.screen
        scopes = screen.scopes if screen is not None else ("app",)
        choices = [item for item in offered(scopes) if item.id != "app.quit"]
        action = self.random.choice(choices or [*registry.all_actions()])
        await self.press("ctrl+p")
        await self.press(*action.title[:6], "enter")

    async def _click(self) -> None:
        """Click anywhere, more often on something that reacts."""
        width, height = self.app.size
        buttons = [
            button.region.center for button in self.app.screen.query(Button) if button.region.area
        ]
        x, y = self.random.randrange(width), self.random.randrange(height)
        if buttons and self.random.random() < 0.35:
            x, y = map(int, self.random.choice(buttons))
        arguments: tuple[Any, ...] = (None, x, y, 0, 0, 1, False, False, False, x, y)
        for kind in (events.MouseMove, events.MouseDown, events.MouseUp):
            await self._post(kind(*arguments), f"{kind.__name__} {x},{y}", burst=True)
        await self._breathe()

    async def _answer(self) -> None:
        """Give one of the answers to whatever is asked."""
        match self.app.screen:
            case ConfirmScreen() as screen:
                await self._type_name(screen)
                ways = (("y",), ("right", "enter"), ("escape",), ("tab", "enter"))
                await self.press(*self.random.choice(ways))
            case SecretScreen() as screen:
                await self._acknowledge(screen)
            case AskScreen():
                await self.press(self.random.choice(("y", "enter", "escape")))
            case _:
                await self.press(self.random.choice(("ctrl+s", "escape", "enter", "down", "tab")))

    async def _acknowledge(self, screen: SecretScreen) -> None:
        for tick in screen.query("#stored"):
            tick.focus()
        await self.press("space", "tab", "enter")

    async def _type_name(self, screen: ConfirmScreen) -> None:
        if screen._typed and self.random.random() < 0.5:
            for editor in screen.query(TextEditor):
                editor.focus()
            await self.press(*screen._typed)

    async def _fill(self) -> None:
        """Type or paste something, and go to the next field."""
        text = self.random.choice(TYPED)
        if len(text) > 20 or self.random.random() < 0.3:
            await self._post(events.Paste(text), "paste")
        else:
            await self.press(*text)
        await self.press(self.random.choice(("tab", "down", "enter", "shift+tab")))

    # Changes ----------------------------------------------------------------------------------

    async def change(self) -> None:
        """Start a change that this screen offers, and continue for some steps."""
        screen = self.app.navigation.screen
        if screen is None or self.app.screen is not screen:
            await (self._carry_on() if self.random.random() < 0.5 else self.press("escape"))
            return
        actions = [action for action in offered(screen.scopes) if action.mutates and action.keys]
        if not actions or self.random.random() < 0.3:
            await self.press(":", *self.random.choice(CHANGING), "enter")
            return
        await self.press(*self.random.choices(("down", "up", "space", "pagedown"), k=2))
        await self.press(*self.random.choice(actions).keys[:1])
        for _ in range(self.random.randrange(1, 7)):
            await asyncio.sleep(0.02)
            if self.app.screen is screen:
                return
            await self._carry_on()

    async def _carry_on(self) -> None:
        """Take the next step of what is open, sometimes a different one."""
        screen = self.app.screen
        if self.random.random() < 0.15:
            await self._click()
        elif isinstance(screen, FormScreen):
            await self._fill_in(screen)
        else:
            await self._answer()

    async def _fill_in(self, screen: FormScreen[Any]) -> None:
        """Fill the first fields with mostly valid text, then send the form."""
        for _ in range(self.random.randrange(1, 4)):
            focused = screen.focused
            rows = [] if focused is None else focused.ancestors_with_self
            row = next((node for node in rows if isinstance(node, FieldRow)), None)
            if row is None:
                break
            text = FITTING.get(row.field.name, "").format(self.random.randrange(10_000))
            await self.press(*text, self.random.choice(("tab", "down")))
        await self.press("ctrl+s")

    # The end ----------------------------------------------------------------------------------

    async def close_everything(self) -> None:
        """Close whatever is open with the usual keys. Raises AssertionError if that fails."""
        await self.pilot.resize_terminal(120, 40)
        for _ in range(200):
            screen = self.app.screen
            if screen is self.app.navigation.screen:
                if not self._is_opening():
                    break
            elif isinstance(screen, SecretScreen):
                await self._acknowledge(screen)
            else:
                await self.press("y" if isinstance(screen, AskScreen) else "escape")
            await asyncio.sleep(0.02)
            self._check()
        steps = "\n".join(self.log)
        assert self.app.screen is self.app.navigation.screen, f"a dialog cannot be closed:\n{steps}"

    def _is_opening(self) -> bool:
        """Whether a running action may open something soon."""
        running = (worker for worker in self.app.workers if not worker.is_finished)
        return any(worker.group in {ACTIONS, SUBMITTING, OPENING} for worker in running)

    def leave(self) -> None:
        """Let the program end."""
        self.app.exit = self._quit  # type: ignore[method-assign]


# The audit ----------------------------------------------------------------------------------------


METHODS = {
    "create": "POST",
    "edit": "PATCH",
    "toggle": "PATCH",
    "replace_key": "PATCH",
    "delete": "DELETE",
    "put": "PUT",
    "add": "POST",
    "remove": "POST",
    "assign_keys": "POST",
    "assign_members": "POST",
    "feedback": "POST",
}
INFERENCE = ("/chat/completions", "/embeddings")
"""Ends of the paths of requests to models, which are no changes."""
ELSEWHERE = frozenset({"organization", "generation"})
"""Resources whose requests have no identity in the path."""


@dataclass(frozen=True)
class Captured:
    """The selected and marked rows when an action started; ``texts`` are all their texts."""

    context: ActionContext
    selected: str | None
    chosen: frozenset[str]
    """The marked rows, else the selected one."""
    parent: str | None
    words: str


class Witness:
    """Checks each write request; ``faults`` describes violations."""

    def __init__(self, place: WalkSite, monkeypatch: pytest.MonkeyPatch) -> None:
        self.faults: list[str] = []
        self.requests: Counter[str] = Counter()
        self.consents: Counter[str] = Counter()
        self._place = place
        self._matched: set[str] = set()
        self._captured: list[Captured] = []
        self._agreed: set[str] = set()
        self._applied: set[str] = set()
        self._may_go: set[str] = set()
        place.arrived = self._arrived
        for kind in (GatewayScreen, ResourceScreen):
            self._watch_captures(monkeypatch, kind)
        self._watch_dialogs(monkeypatch)
        self._watch_sending(monkeypatch)

    # Hooks ------------------------------------------------------------------------------------

    def _watch_captures(self, monkeypatch: pytest.MonkeyPatch, kind: type[GatewayScreen]) -> None:
        capture = kind.capture

        def captured(screen: Any) -> ActionContext:
            context = capture(screen)
            self._captured.append(_captured(screen, context))
            del self._captured[:-400]
            return context

        monkeypatch.setattr(kind, "capture", captured)

    def _watch_dialogs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        dismiss = ConfirmScreen.dismiss

        def dismissed(screen: ConfirmScreen, result: Any = None) -> Any:
            if result and screen in screen.app.screen_stack:
                self._agreed |= {screen._plan.id, *(part.id for part in screen._plan.parts)}
            return dismiss(screen, result)

        monkeypatch.setattr(ConfirmScreen, "dismiss", dismissed)

    def _watch_sending(self, monkeypatch: pytest.MonkeyPatch) -> None:
        send = writing.send_one

        async def sending(context: ActionContext, consent: Confirmation[Any]) -> Outcome[Any]:
            self._check_consent(context.app, consent)
            self._check_target(context, consent.plan)
            self._may_go.add(consent.plan.id)
            outcome: Outcome[Any] = await send(context, consent)
            if isinstance(outcome, Applied):
                self._applied.add(consent.plan.id)
            return outcome

        for module in (writing, bulk, recovery):
            monkeypatch.setattr(module, "send_one", sending)

    # Checks -----------------------------------------------------------------------------------

    def _arrived(self, method: str, path: str) -> None:
        """Check that the intent of an arriving request was confirmed and is on disk."""
        if method == "GET" or path.endswith(INFERENCE):
            return
        self.requests[f"{method} {path.removeprefix('/api/v1/').partition('/')[0]}"] += 1
        for intent in self._place.ledger.open_writes():
            if intent.id in self._matched or METHODS[intent.action.rpartition(".")[2]] != method:
                continue
            parts = (intent.identity or "").split("/")
            if intent.resource in ELSEWHERE or all(part in path for part in parts):
                self._matched.add(intent.id)
                if intent.id not in self._may_go:
                    self.faults.append(f"{method} {path}: {intent.title} was not confirmed")
                return
        self.faults.append(f"{method} {path}: no intent in the ledger")

    def _check_consent(self, app: GwtuiApp, consent: Confirmation[Any]) -> None:
        self.consents[consent.by] += 1
        match consent.by:
            case "dialog" | "typed":
                agreed = consent.plan.id in self._agreed
            case "form":
                agreed = any(
                    isinstance(screen, FormScreen) and screen._sending
                    for screen in app.screen_stack
                )
            case _:
                agreed = False
        if not agreed:
            self.faults.append(f"{consent.plan.title}: not confirmed ({consent.by})")
        if app.connection.critical and consent.by != "typed":
            self.faults.append(f"{consent.plan.title}: the profile's name was not typed")

    def _check_target(self, context: ActionContext, plan: Plan[Any]) -> None:
        exact = [capture for capture in self._captured if capture.context is context]
        # A finding leads to the resource that it names.
        nearest = [
            capture for capture in self._captured if capture.context.screen is context.screen
        ]
        target = (exact or nearest or [None])[-1]
        if target is None:
            self.faults.append(f"{plan.title}: no captured target")
        elif plan.undoes is not None:
            if plan.undoes not in self._applied and plan.undoes not in self._agreed:
                self.faults.append(f"{plan.title}: undoes a change that was not applied")
        elif (
            plan.identity is not None
            and plan.identity in target.words
            and (
                not exact or plan.title.endswith("to the successor")  # of a rotated key
            )
        ):
            return
        elif not _concerns(plan, target):
            self.faults.append(f"{plan.title}: not the selected row {target.selected}")

    def check_end(self) -> None:
        """Check that intents and requests match one to one."""
        assert not self.faults, self.faults[:5]
        assert self.requests.total() == len(self._matched)
        intents = {e.id for e in self._place.ledger.entries() if e.outcome == "intent"}
        assert self._matched <= intents


# The row that a write belongs to -----------------------------------------------------------------


def _captured(screen: GatewayScreen, context: ActionContext) -> Captured:
    listing = screen if isinstance(screen, ResourceScreen) else None
    selected = screen.identity() if listing is None else listing.table.selected_identity
    table = None if listing is None else listing.table
    marks = [] if table is None else [table.model[marked_id] for marked_id in table.model.marked]
    rows = marks or ([] if context.target is None else [context.target])
    parent = None if listing is None else listing.parent_row
    identity = None if context.spec is None else context.spec.identity
    marked = () if identity is None else map(identity, marks)
    chosen = frozenset(marked) or frozenset(filter(None, (selected,)))
    return Captured(context, selected, chosen, parent, repr(rows))


def _concerns(plan: Plan[Any], captured: Captured) -> bool:
    """Whether a plan creates something, or names nothing but what was selected or marked."""
    if plan.identity is None and plan.action.endswith(".create"):
        return True
    if plan.action == "organization.edit":
        return plan.identity is not None
    entries = [
        entry for value in plan.summary.values() if isinstance(value, list) for entry in value
    ]
    rows = bool(entries) and all(str(entry) in captured.words for entry in entries)
    if plan.action == "members.remove":
        return plan.identity == captured.parent and rows
    # A budget is WORKSPACE/INTERVAL. The guardrail for selected rows is chosen in a form.
    return (plan.identity or "").partition("/")[0] in {*captured.chosen, captured.parent} or rows


# The tests ----------------------------------------------------------------------------------------


EVENTS = 5_000 if FULL else 100
pytestmark = pytest.mark.timeout(120 + EVENTS)
MODES = ("read-only", "plain key")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory for the lists and pictures that a walk exports."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("mode", MODES)
async def test_a_read_only_walk_sends_only_reads(mode: str) -> None:
    async with (
        harness(WalkSite, management=mode != "plain key") as place,
        dashboard(place, read_only=mode == "read-only", size=(80, 24), loaded=False) as (
            app,
            pilot,
        ),
    ):
        await until(pilot, lambda: app.session is not None and app.read_only, "the gate")
        walk = Walk(pilot, SEED + MODES.index(mode))
        await walk.walk(EVENTS)
        assert app.read_only
        await walk.close_everything()
        await still_answers(place)
        walk.leave()
    assert set(place.requests) <= {"GET"}
    assert not place.ledger.path.exists()


async def still_answers(place: WalkSite) -> None:
    await place.app.open_route("providers")
    await place.until(lambda: "Provider" in screen_text(place.app), "an answer to a key")
    # Readable with every key; an inference key is refused nearly everything else.
    await place.app.open_route("all-endpoints")
    await place.until(lambda: place.requests["GET"] > 10, "the endpoints of all models")


@pytest.mark.parametrize("critical", [False, True], ids=["dialogs", "typed"])
async def test_every_write_of_a_walk_was_planned_and_confirmed(
    critical: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with harness(WalkSite) as place, place.colleague() as colleague:
        witness = Witness(place, monkeypatch)
        async with dashboard(place, critical=critical, size=(80, 24)) as (app, pilot):
            disturber = Disturber(app, colleague, SEED)
            walk = Walk(pilot, SEED, (2, disturber.disturb))
            walk.moves += ((25, walk.change),)
            await walk.walk(EVENTS)
            await walk.close_everything()
            await app.executor.settle(5)
            await still_answers(place)
            walk.leave()
        witness.check_end()


class Disturber:
    """A second administrator who moves rows while the user decides."""

    def __init__(self, app: GwtuiApp, client: GatewayClient, seed: int) -> None:
        self._app = app
        self._client = client
        self._random = random.Random(seed)

    async def disturb(self) -> None:
        """Create, rename or delete a key, and let the dashboard see it at once."""
        keys = (await self._client.keys.list()).items
        key = self._random.choice(keys)
        match self._random.randrange(3):
            case 0:
                name = f"{self._random.choice('amz')} other {self._random.randrange(1000)}"
                await self._client.keys.create(CreateKeyRequest(name=name))
            case 1:
                name = f"{self._random.choice('amz')} renamed"
                await self._client.keys.update(key.hash or "", UpdateKeyRequest(name=name))
            case 2 if len(keys) > 5:
                await self._client.keys.delete(key.hash or "")
        if self._app.session is not None:
            await self._app.hub.refresh("keys")
