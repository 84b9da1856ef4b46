"""A seeded walk through the whole dashboard: keys, clicks, palette, paths, forms, sizes, focus.

It does what hands do, in any order, faster than hands: several events in one burst, too. It reads
the screen only to go where something can happen.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from typing import Any

from textual import events
from textual.drivers.headless_driver import HeadlessDriver
from textual.geometry import Size
from textual.pilot import Pilot
from textual.widgets import Button

from gwtui.resources import actions as registry
from gwtui.resources.registry import PARENTS, PLACES
from gwtui.ui.app import GwtuiApp
from gwtui.ui.commands import offered
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.field_editors import TextEditor
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.option_pickers import PickScreen
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.forms.secret import SecretScreen
from gwtui.ui.input_queue import ACTIONS, OPENING, SUBMITTING
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.resource import ResourceScreen

SIZES = ((80, 24), (120, 40), (60, 20), (200, 50), (110, 30), (30, 8), (81, 25))
PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:;-_/<>?!*#@%&[](){}'\"\\"
SPECIAL = (
    *("enter", "escape", "tab", "shift+tab", "space", "backspace", "delete", "up", "down"),
    *("left", "right", "pageup", "pagedown", "home", "end", "ctrl+s", "ctrl+p", "ctrl+z"),
    *("ctrl+n", "ctrl+o", "ctrl+home", "ctrl+end", "f1", "ctrl+a", "ctrl+k", "shift+down"),
)
TYPED = (
    *("ci", "laptop [b]", "25", "0", "-3", "1,000.50", "30 days", "2027-01-01", "team-x"),
    *("northwind", "sk-pro-0123456789", "é漢🙂", "gw-[0-9]+", "(", "daily", "x"),
)
PASTED = (*TYPED, "a" * 5000, "two\nlines", "\x1b[31mred\x07", "\t\r", "vendor/model")
CHANGING = ("keys", "workspaces", "guardrails", "byok", "assignments", "organization")
"""Places where something can be changed."""
FITTING = {
    "name": "walk-{}",
    "slug": "walk-{}",
    "limit": "25",
    "limit_usd": "25",
    "daily": "2",
    "description": "d{}",
    "provider": "northwind",
    "key": "sk-walk-0123456789",
    "user_ids": " ",
    "key_hashes": " ",
    "member_user_ids": " ",
}
"""What a field takes, by its name."""
QUIET_KEYS = frozenset({"app.quit"})
MOST_HOPS = 40
"""Turns of the event loop that one event gets before the next one comes."""


def _key(name: str) -> events.Key:
    character = name if len(name) == 1 else {"space": " "}.get(name)
    return events.Key(_names().get(name, name), character)


def _names() -> dict[str, str]:
    return _NAMES


_NAMES = {sign: events.Key(sign, sign).name for sign in PLAIN if not sign.isalnum()} | {
    " ": "space"
}


Move = tuple[int, Callable[[], Awaitable[None]]]
"""How often something is done, compared with the rest, and what."""


class Walk:
    """One walk over a running dashboard; ``log`` are the last things that it did."""

    def __init__(self, pilot: Pilot[Any], seed: int, *also: Move) -> None:
        app = pilot.app
        assert isinstance(app, GwtuiApp)
        self.app = app
        self.random = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.screens: Counter[str] = Counter()
        self.log: deque[str] = deque(maxlen=40)
        self.quits = 0
        self._quit = app.exit
        app.exit = self._stay  # type: ignore[method-assign]
        self._keys = sorted(
            {key for action in registry.all_actions() for key in action.keys} - {"ctrl+c", "ctrl+q"}
        )
        self.moves: tuple[Move, ...] = (
            *also,
            (22, self._press_action),
            (10, self._press_special),
            (6, self._press_plain),
            (8, self._go),
            (6, self._pick),
            (14, self._click),
            (3, self._wheel),
            (16, self._answer),
            (7, self._fill),
            (3, self._paste),
            (2, self._resize),
            (2, self._blur),
            (4, self._wait),
        )

    def _stay(self, *_result: Any, **_more: Any) -> None:
        self.quits += 1

    @property
    def events(self) -> int:
        """How many events were posted so far."""
        return self.done.total()

    async def walk(self, events_wanted: int) -> None:
        """Go on until so many events were posted. AssertionError when the program stopped."""
        weights = [weight for weight, _ in self.moves]
        moves = [move for _, move in self.moves]
        try:
            while self.events < events_wanted:
                (move,) = self.random.choices(moves, weights)
                await move()
                self._check()
        except BaseException:
            print("\n".join(["the last steps were", *self.log]))
            raise

    def _check(self) -> None:
        app = self.app
        self.screens[type(app.screen).__name__ if app.screen_stack else "none"] += 1
        if app._exception is not None or app.crash is not None or not app.is_running:
            raise AssertionError("the program stopped") from app._exception

    # One event --------------------------------------------------------------------------------

    async def _post(self, event: events.Event, told: str, *, burst: bool = False) -> None:
        self.done[type(event).__name__] += 1
        self.log.append(f"{type(self.app.screen).__name__}: {told}")
        self.app.post_message(event)
        if not burst:
            await self.breathe()

    async def breathe(self) -> None:
        """Let what was posted be handled: bounded, for there is always something going on."""
        for hop in range(MOST_HOPS):
            await asyncio.sleep(0 if hop < 16 else 0.002)
            if hop > 8 and self.app._message_queue.empty() and not self.app._typed.pending:
                return

    async def press(self, *keys: str, burst: bool = False) -> None:
        """Press keys."""
        for key in keys:
            await self._post(_key(key), key, burst=burst)
        if burst:
            await self.breathe()

    # Moves ------------------------------------------------------------------------------------

    async def _press_action(self) -> None:
        await self.press(self.random.choice(self._keys))

    async def _press_special(self) -> None:
        await self.press(self.random.choice(SPECIAL))

    async def _press_plain(self) -> None:
        many = self.random.choice((1, 1, 2, 5))
        await self.press(*self.random.choices(PLAIN, k=many), burst=self.random.random() < 0.5)

    async def _go(self) -> None:
        """To a place by its path, or to a row that is there."""
        route = self.random.choice((*PLACES, *PARENTS))
        screen = self.app.navigation.screen
        if isinstance(screen, ResourceScreen) and screen.table.identities:
            identity = self.random.choice(screen.table.identities)
            children = [child for child, of in PARENTS.items() if of == screen.resource]
            route = self.random.choice(
                (route, f"{screen.resource}/{identity}", *(f"{one}/{identity}" for one in children))
            )
        await self.press(":", *route[:80], "enter", burst=self.random.random() < 0.5)

    async def _pick(self) -> None:
        """An action by its name."""
        screen = self.app.navigation.screen
        scopes = screen.scopes if screen is not None else ("app",)
        action = self.random.choice(
            [one for one in offered(scopes) if one.id not in QUIET_KEYS]
            or [*registry.all_actions()]
        )
        await self.press("ctrl+p")
        await self.press(*action.title[:6], burst=True)
        await self.press("enter")

    async def _click(self) -> None:
        x, y = self._place()
        await self._mouse(x, y)
        if self.random.random() < 0.2:
            await self._mouse(x, y)

    def _place(self) -> tuple[int, int]:
        """Anywhere, more often where something can be pressed."""
        width, height = self.app.size
        lot = self.random.random()
        buttons = [one for one in self.app.screen.query(Button) if one.region.area]
        if buttons and lot < 0.35:
            return tuple(map(int, self.random.choice(buttons).region.center))  # type: ignore[return-value]
        row = 0 if lot < 0.5 else height - 1 if lot < 0.62 else self.random.randrange(height)
        return self.random.randrange(width), max(0, row)

    async def _mouse(self, x: int, y: int) -> None:
        where: tuple[Any, ...] = (None, x, y, 0, 0, 1, False, False, False, x, y)
        told = f"click {x},{y}"
        await self._post(events.MouseMove(*where[:5], 0, *where[6:]), f"move {x},{y}", burst=True)
        await self._post(events.MouseDown(*where), told, burst=True)
        await self._post(events.MouseUp(*where), told)

    async def _wheel(self) -> None:
        x, y = self._place()
        kind = self.random.choice((events.MouseScrollDown, events.MouseScrollUp))
        await self._post(kind(None, x, y, 0, 0, 0, False, False, False, x, y), kind.__name__)

    async def _answer(self) -> None:
        """Whatever is asked: one of its answers."""
        screen = self.app.screen
        if isinstance(screen, ConfirmScreen):
            ways = (("y",), ("right", "enter"), ("escape",), ("tab", "enter"))
            await self._type_name(screen)
            await self.press(*self.random.choice(ways))
        elif isinstance(screen, SecretScreen):
            await self._acknowledge(screen)
        elif isinstance(screen, AskScreen):
            await self.press(self.random.choice(("y", "enter", "escape", "y")))
        elif isinstance(screen, FormScreen | PickScreen):
            await self.press(self.random.choice(("ctrl+s", "escape", "tab", "ctrl+s")))
        elif screen is not self.app.navigation.screen:
            await self.press(self.random.choice(("escape", "enter", "down", "escape")))
        else:
            await self.press(self.random.choice(("enter", "escape", "down", "space")))

    async def _acknowledge(self, screen: SecretScreen) -> None:
        for tick in screen.query("#stored"):
            tick.focus()
        await self.press("space", "tab", "enter")

    async def _type_name(self, screen: ConfirmScreen) -> None:
        if screen._typed and self.random.random() < 0.5:
            for editor in screen.query(TextEditor):
                editor.focus()
            await self.press(*screen._typed, burst=True)

    async def _fill(self) -> None:
        """Type something and go to the next field."""
        text = self.random.choice(TYPED)
        await self.press(*text, burst=True)
        await self.press(self.random.choice(("tab", "down", "enter", "tab", "shift+tab")))

    async def _paste(self) -> None:
        await self._post(events.Paste(self.random.choice(PASTED)), "paste")

    async def _resize(self) -> None:
        await self.resize(self.random.choice(SIZES))
        if self.app.size.width < 60:
            await self.press(self.random.choice(SPECIAL))
            await self.resize(SIZES[0])

    async def resize(self, size: tuple[int, int]) -> None:
        """Make the terminal that large."""
        driver = self.app._driver
        assert isinstance(driver, HeadlessDriver)
        new = Size(*size)
        driver._size = new
        await self._post(events.Resize(new, new), f"resize {size}")
        await asyncio.sleep(0.02)

    async def _blur(self) -> None:
        await self._post(events.AppBlur(), "blur")
        await self.press(*self.random.choices(SPECIAL, k=2))
        await self._post(events.AppFocus(), "focus")

    async def _wait(self) -> None:
        await asyncio.sleep(self.random.choice((0.005, 0.02, 0.06)))

    # Changes ----------------------------------------------------------------------------------

    async def change(self) -> None:
        """Ask for a change that this screen offers, and go some of the way through with it."""
        screen = self.app.navigation.screen
        if screen is None:
            return
        if self.app.screen is not screen:
            await self._leave_or_go_on()
            return
        offers = [one for one in offered(screen.scopes) if one.mutates and one.keys]
        if not offers or self.random.random() < 0.3:
            await self.press(":", *self.random.choice(CHANGING), "enter", burst=True)
            await asyncio.sleep(0.01)
            return
        for _ in range(self.random.randrange(4)):
            await self.press(self.random.choice(("down", "down", "up", "space", "pagedown")))
        await self.press(*self.random.choice(offers).keys[:1])
        for _ in range(self.random.randrange(1, 7)):
            await asyncio.sleep(0.02)
            if self.app.screen is screen:
                return
            await self._carry_on()

    async def _leave_or_go_on(self) -> None:
        if self.random.random() < 0.5:
            await self._carry_on()
            return
        await self.press("escape")
        if isinstance(self.app.screen, AskScreen):
            await self.press("y")

    async def _carry_on(self) -> None:
        """The next step of what is open; now and then something else."""
        screen = self.app.screen
        if self.random.random() < 0.15:
            await self._click()
        elif isinstance(screen, FormScreen):
            await self._fill_in(screen)
        elif isinstance(screen, ConfirmScreen):
            await self._type_name(screen)
            await self.press(*self.random.choice((("y",), ("right", "enter"), ("tab", "enter"))))
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
            text = FITTING.get(row.field.name, "")
            await self.press(*text.format(self.random.randrange(10_000)), burst=True)
            await self.press(self.random.choice(("tab", "down", "tab")))
        await self.press("ctrl+s")

    # The end ----------------------------------------------------------------------------------

    async def come_home(self) -> None:
        """Leave whatever is open, with the keys that a person has. AssertionError when stuck."""
        await self.resize((120, 40))
        for _ in range(200):
            screen = self.app.screen
            if screen is self.app.navigation.screen:
                if not self._is_opening():
                    break
            elif isinstance(screen, SecretScreen):
                await self._acknowledge(screen)
            elif isinstance(screen, AskScreen):
                await self.press("y")
            else:
                await self.press("escape")
            await asyncio.sleep(0.02)
            self._check()
        told = "\n".join(self.log)
        assert self.app.screen is self.app.navigation.screen, f"no way back from there:\n{told}"

    def _is_opening(self) -> bool:
        """Whether an action that goes on may open something in a moment."""
        going_on = (one for one in self.app.workers if not one.is_finished)
        return any(one.group in {ACTIONS, SUBMITTING, OPENING} for one in going_on)

    def leave(self) -> None:
        """Let the program end."""
        self.app.exit = self._quit  # type: ignore[method-assign]
