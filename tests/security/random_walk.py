"""A seeded walk through the whole dashboard: keys, clicks, palette, paths, forms, sizes.

It does what hands do, in any order, faster than hands: several events in one burst, too. It reads
the screen only to go where something can happen.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from textual import events
from textual.pilot import Pilot
from textual.widgets import Button

from gwtui.resources import actions as registry
from gwtui.resources.registry import PARENTS, PLACES
from gwtui.ui.app import GwtuiApp
from gwtui.ui.commands import offered
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.field_editors import TextEditor
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.forms.secret import SecretScreen
from gwtui.ui.input_queue import ACTIONS, OPENING, SUBMITTING
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.resource import ResourceScreen

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
"""Places where something can be changed."""
FITTING = {
    **dict.fromkeys(("name", "slug"), "walk-{}"),
    **dict.fromkeys(("limit", "limit_usd"), "25"),
    **dict.fromkeys(("user_ids", "key_hashes", "member_user_ids"), " "),
    "daily": "2",
    "description": "d{}",
    "provider": "northwind",
    "key": "sk-walk-0123456789",
}
"""What a field takes, by its name."""
MOST_HOPS = 40
"""Turns of the event loop that one event gets before the next one comes."""


def key_event(name: str) -> events.Key:
    character = " " if name == "space" else name
    if len(character) != 1:
        return events.Key(name, None)
    known = "space" if character == " " else events.Key(character, character).name
    return events.Key(character if character.isalnum() else known, character)


Move = tuple[int, Callable[[], Awaitable[None]]]
"""How often something is done, compared with the rest, and what."""


class Walk:
    """One walk over a running dashboard; ``log`` are the last things that it did."""

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

    async def walk(self, most: int) -> None:
        """Go on until so many events were posted. AssertionError when the program stopped."""
        weights, moves = zip(*self.moves, strict=True)
        try:
            while self.events < most:
                (move,) = self.random.choices(moves, weights)
                await move()
                self._check()
        except BaseException:
            print("\n".join(["the last steps were", *self.log]))
            raise

    def _check(self) -> None:
        app = self.app
        if app._exception is not None or app.crash is not None or not app.is_running:
            raise AssertionError("the program stopped") from app._exception

    async def press(self, *keys: str) -> None:
        """Press keys, now and then all in one burst."""
        burst = self.random.random() < 0.5
        for key in keys:
            await self._post(key_event(key), key, burst=burst)
        await self._breathe()

    async def _post(self, event: events.Event, what: str, *, burst: bool = False) -> None:
        self.events += 1
        self.log.append(f"{type(self.app.screen).__name__}: {what}")
        self.app.post_message(event)
        if not burst:
            await self._breathe()

    async def _breathe(self) -> None:
        """Let what was posted be handled: bounded, for there is always something going on."""
        for hop in range(MOST_HOPS):
            await asyncio.sleep(0 if hop < 16 else 0.002)
            if hop > 8 and self.app._message_queue.empty() and not self.app._typed.pending:
                return

    # Moves ------------------------------------------------------------------------------------

    async def _go(self) -> None:
        """To a place by its path, or to a row that is there."""
        routes = [*PLACES, *PARENTS]
        screen = self.app.navigation.screen
        if isinstance(screen, ResourceScreen) and screen.table.identities:
            row = self.random.choice(screen.table.identities)
            children = [child for child, of in PARENTS.items() if of == screen.resource]
            routes = [routes[0], f"{screen.resource}/{row}", *(f"{one}/{row}" for one in children)]
        await self.press(":", *self.random.choice(routes)[:80], "enter")

    async def _pick(self) -> None:
        """An action by its name."""
        screen = self.app.navigation.screen
        scopes = screen.scopes if screen is not None else ("app",)
        choices = [one for one in offered(scopes) if one.id != "app.quit"]
        action = self.random.choice(choices or [*registry.all_actions()])
        await self.press("ctrl+p")
        await self.press(*action.title[:6], "enter")

    async def _click(self) -> None:
        """Anywhere, more often where something can be pressed."""
        width, height = self.app.size
        buttons = [one.region.center for one in self.app.screen.query(Button) if one.region.area]
        x, y = self.random.randrange(width), self.random.randrange(height)
        if buttons and self.random.random() < 0.35:
            x, y = map(int, self.random.choice(buttons))
        where: tuple[Any, ...] = (None, x, y, 0, 0, 1, False, False, False, x, y)
        for kind in (events.MouseMove, events.MouseDown, events.MouseUp):
            await self._post(kind(*where), f"{kind.__name__} {x},{y}", burst=True)
        await self._breathe()

    async def _answer(self) -> None:
        """Whatever is asked: one of its answers."""
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
        """Paste or type something and go to the next field."""
        text = self.random.choice(TYPED)
        if len(text) > 20 or self.random.random() < 0.3:
            await self._post(events.Paste(text), "paste")
        else:
            await self.press(*text)
        await self.press(self.random.choice(("tab", "down", "enter", "shift+tab")))

    # Changes ----------------------------------------------------------------------------------

    async def change(self) -> None:
        """Ask for a change that this screen offers, and go some of the way through with it."""
        screen = self.app.navigation.screen
        if screen is None or self.app.screen is not screen:
            await (self._carry_on() if self.random.random() < 0.5 else self.press("escape"))
            return
        offers = [one for one in offered(screen.scopes) if one.mutates and one.keys]
        if not offers or self.random.random() < 0.3:
            await self.press(":", *self.random.choice(CHANGING), "enter")
            return
        await self.press(*self.random.choices(("down", "up", "space", "pagedown"), k=2))
        await self.press(*self.random.choice(offers).keys[:1])
        for _ in range(self.random.randrange(1, 7)):
            await asyncio.sleep(0.02)
            if self.app.screen is screen:
                return
            await self._carry_on()

    async def _carry_on(self) -> None:
        """The next step of what is open; now and then something else."""
        screen = self.app.screen
        if self.random.random() < 0.15:
            await self._click()
        elif isinstance(screen, FormScreen):
            await self._fill_in(screen)
        else:
            await self._answer()

    async def _fill_in(self, screen: FormScreen[Any]) -> None:
        """What the first fields take, more or less; then send it."""
        for _ in range(self.random.randrange(1, 4)):
            focused = screen.focused
            rows = [] if focused is None else focused.ancestors_with_self
            row = next((one for one in rows if isinstance(one, FieldRow)), None)
            if row is None:
                break
            text = FITTING.get(row.field.name, "").format(self.random.randrange(10_000))
            await self.press(*text, self.random.choice(("tab", "down")))
        await self.press("ctrl+s")

    # The end ----------------------------------------------------------------------------------

    async def come_home(self) -> None:
        """Leave whatever is open, with the keys that a person has. AssertionError when stuck."""
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
        assert self.app.screen is self.app.navigation.screen, f"no way back from there:\n{steps}"

    def _is_opening(self) -> bool:
        """Whether an action that goes on may open something in a moment."""
        going_on = (one for one in self.app.workers if not one.is_finished)
        return any(one.group in {ACTIONS, SUBMITTING, OPENING} for one in going_on)

    def leave(self) -> None:
        """Let the program end."""
        self.app.exit = self._quit  # type: ignore[method-assign]
