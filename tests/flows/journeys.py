"""Journeys of a user through the dashboard, as the bytes that a terminal sends.

Each can be typed slowly, in one burst, or cut up at random, and must lead to the same gateway,
screens and fields. The bytes pass through parser, driver and the app's queue as from a terminal.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from switch_kit import SomeTargets
from textual._xterm_parser import XTermParser
from textual.pilot import Pilot
from textual.widgets import Input

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import ApiKey
from gwtui.local.ledger import Ledger
from gwtui.local.targets import TargetInfo
from gwtui.ui.actions.app import FirstStepsScreen
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.screens.resource import ResourceScreen
from harness import Harness, has_data, notices, until
from idle import is_busy, wait_for_idle

KEYS = {
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "enter": "\r",
    "escape": "\x1b[27u",  # as sent by terminals that distinguish it from the start of a sequence
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "end": "\x1b[F",
    "pagedown": "\x1b[6~",
    "backspace": "\x7f",
    **{f"ctrl+{letter}": chr(ord(letter) - 96) for letter in "cgnopsuz"},
}
_TOKEN = re.compile(r"<paste:([^>]*)>|<click:(\d+),(\d+)>|<([a-z+]+)>|(.)")


def tokens(keys: str) -> list[str]:
    """What a terminal sends for "n", "ci<tab>25", "<paste:text>" or "<click:column,row>"."""
    return [_bytes_of(match) for match in _TOKEN.finditer(keys)]


def _bytes_of(match: re.Match[str]) -> str:
    pasted, x, y, name, sign = match.groups()
    if pasted is not None:
        return f"\x1b[200~{pasted}\x1b[201~"
    if x is not None:
        position = f"{int(x) + 1};{int(y) + 1}"
        return f"\x1b[<0;{position}M\x1b[<0;{position}m"
    return KEYS[name] if name is not None else sign


@dataclass(frozen=True)
class Journey:
    """What is typed, on which screen it starts, and text that the screen shows at the end."""

    keys: str
    start: str = "keys"
    critical: bool = False
    data: bool = False
    profiles: bool = False
    """Whether there are other profiles of the same gateway."""
    first_steps: bool = False
    """Whether it begins at the first steps, over the first rows."""

    @property
    def tokens(self) -> list[str]:
        """One token for each action of the user."""
        return tokens(self.keys)


STORED = "<escape> <tab><enter>"
"""Confirms that a new key is stored."""

JOURNEYS = {
    "new key": Journey(f"nci<tab>25<ctrl+s>v{STORED}"),
    "new key with an expiry": Journey(f"nci-2<tab>25<tab>d<tab><tab>in 30 days<ctrl+s>{STORED}"),
    "discarded new key": Journey("ndaxy<escape>ydj"),
    "new key, still editing": Journey("ndaxy<escape><enter>z<tab>12"),
    "new key in a workspace": Journey(
        f"nin staging<tab>25<tab><tab><tab><tab><enter><down><enter><ctrl+s>{STORED}"
    ),
    "two new keys": Journey(f"none<ctrl+s>y{STORED}ntwo<tab>2<ctrl+s>{STORED}"),
    "edit a key": Journey("/airflow-prod<enter>e <ctrl+u>moved<tab><ctrl+u>7<ctrl+s>y"),
    "rotate a key and fix a finding": Journey(
        f"/airflow-staging<enter>N<ctrl+s>y{STORED}F/rule:no-budget<enter>f<ctrl+u>7<ctrl+s>y"
    ),
    "disable and undo": Journey("jjxyUy"),
    "disable two keys and undo both": Journey(">>g  xyUy"),
    "edit and undo": Journey("je<tab><ctrl+u>11<ctrl+s>yU<enter>"),
    "filter and open": Journey("/ci<enter>jd"),
    "filter, clear, filter": Journey("/zzz<escape>/state:disabled<enter>j"),
    "path to a row": Journey(":keys/airflow-prod<enter><escape>:guardrails<enter>jj"),
    "name prefix, alias and path history": Journey(
        ":keys/airflow-pr<enter>:gr<enter>j:<up><up><enter>j"
    ),
    "a name in an unread list": Journey(":ws prod<enter>j"),
    "another profile": Journey(":ctx sta<enter>j", profiles=True),
    "another profile by its chooser": Journey(":ct<tab><enter><down><enter>jj", profiles=True),
    "another profile by its key": Journey("P<down><enter>j", profiles=True),
    "palette": Journey("<ctrl+p>theme<enter><down><down><enter>"),
    "palette to a form": Journey("<ctrl+p>new key<enter>from the palette<tab>3"),
    "workspace": Journey("w<down><down><enter>j"),
    "workspace and new key": Journey(f"w<down><enter>nscoped<tab>25<ctrl+s>y{STORED}"),
    "the cheapest endpoint": Journey("3E/s<tab>h to<tab>y co<tab>>=128k<enter>d"),
    "yesterday by key": Journey("7K,jd"),
    "columns": Journey("|<down> <down><right>++<enter>j|r <enter>jd"),
    "first steps": Journey("/ci<enter><ctrl+p>first steps<enter>jd", first_steps=True),
    "help searched": Journey("?/copy id<enter>/<escape>?jj"),
    "copy and export": Journey(
        "jyn<enter>  yc<enter>used<enter>vyj<enter><escape>Yc<enter>uyi<enter>"
    ),
    "sort": Journey("s<down><down><enter>S"),
    "marks": Journey(" j  A<down><escape>"),
    "assign marked keys": Journey("  A<down><enter>y", start="keys"),
    "new guardrail": Journey(
        "ncapped<tab>two words<pagedown><pagedown><pagedown><ctrl+s>", start="guardrails"
    ),
    "guardrail with providers": Journey(
        "npicked<pagedown><tab><tab><enter>open <enter><pagedown>9<ctrl+s>", start="guardrails"
    ),
    "new credential": Journey("nopenai<tab>sk-own-0123456789abcdef<tab>mine<ctrl+s>", start="byok"),
    "pasted credential": Journey(
        "nopenai<tab><paste:sk-own-0123456789abcdef><tab>mine<ctrl+s>", start="byok"
    ),
    "new workspace": Journey("nLab<tab>lab-x<tab>of ours<ctrl+s>", start="workspaces"),
    "budgets": Journey("jb<ctrl+u>2<tab><ctrl+u>10<ctrl+s>y", start="workspaces"),
    "delete a key": Journey("jD<tab><enter>j"),
    "delete on a critical profile": Journey("jD<tab>prod<enter><enter>", critical=True),
    "alert rule": Journey(":alert-rules<enter>jxn<down><ctrl+s>", data=True),
    "tabs and back": Journey("2?<escape>5<escape>j"),
    "raw and detail": Journey("jv<pagedown><escape>d<escape>j"),
    "tabs before their rows": Journey("5jj4j3jjj"),
    "time cursor": Journey("@3h ago<enter>,,>L@2h ago<enter>i", start="board", data=True),
    "a request with an unknown key": Journey(
        "jTtwo words<pagedown><paste:gw-v1-of-nobody-0123456789abcdef><ctrl+s>", start="models"
    ),
    "a request without a key": Journey("Thi<pagedown><pagedown>9<ctrl+s>x", start="models"),
    "board": Journey("++-izsl", start="board", data=True),
    "clicks between keys": Journey("j<click:4,6>nclicked<tab>5"),
}


def cut(text: str, random: random.Random) -> list[tuple[str, float]]:
    """Cut the text into pieces of any length, each with a pause in seconds."""
    pieces = []
    while text:
        length = random.choice((1, 1, 2, 3, 5, 8, 13, len(text)))
        piece, text = text[:length], text[length:]
        ends_no_sequence = "\x1b" not in f"{piece}{text}"[max(0, len(piece) - 8) : len(piece)]
        pause = random.choice((0, 0, 0.001, 0.004, 0.012, 0.03, 0.08)) if ends_no_sequence else 0
        pieces.append((piece, pause))
    return pieces


class Terminal:
    """Feeds bytes to an app as its driver does."""

    def __init__(self, app: GwtuiApp) -> None:
        self._app = app
        self._parser = XTermParser()

    def write(self, text: str) -> None:
        driver = self._app._driver
        assert driver is not None
        for event in self._parser.feed(text):
            driver.process_message(event)


@dataclass
class JourneyHarness:
    """A dashboard on which a journey starts."""

    place: Harness
    app: GwtuiApp
    pilot: Pilot[int]
    terminal: Terminal

    async def slowly(self, keys: Iterable[str]) -> None:
        """Type one token after the other, and wait for its effect."""
        for key in keys:
            self.terminal.write(key)
            await at_rest(self.app)

    async def at_once(self, keys: Iterable[str]) -> None:
        """Type everything in one burst."""
        self.terminal.write("".join(keys))
        await at_rest(self.app)

    async def cut_up(self, keys: Iterable[str], random: random.Random) -> None:
        """Type in pieces with pauses, independent of the boundaries of keys."""
        for piece, pause in cut("".join(keys), random):
            self.terminal.write(piece)
            await asyncio.sleep(pause)
        await at_rest(self.app)

    async def outcome(self) -> dict[str, Any]:
        """The final state of the gateway and of the screen."""
        async with self.place.connect() as connection, GatewayClient(connection) as client:
            results = {"gateway": await _gateway(client)}
        assert "typed ahead" not in notices(self.app)
        return results | _screen_state(self.app)


@asynccontextmanager
async def journey_harness(
    place: Harness, folder: Path, journey: Journey
) -> AsyncIterator[JourneyHarness]:
    """A dashboard on a gateway, with its first rows."""
    app = GwtuiApp(
        lambda: place.connect(critical=journey.critical),
        clock=place.clock,
        start=journey.start,
        local_zone=UTC,
        ledger=Ledger(folder / "audit.jsonl"),
        data=folder / "data" if journey.data else None,
        config=folder / "config" if journey.data else None,
        state=folder / "state" if journey.first_steps else None,
        targets=_targets(place) if journey.profiles else None,
    )
    async with app.run_test(size=(100, 30), notifications=True, tooltips=True) as pilot:
        ready = journey.start == "board" or (lambda: has_data(app))
        if journey.first_steps:
            ready = lambda: isinstance(app.screen, FirstStepsScreen)  # noqa: E731 - as above
        await until(pilot, ready if callable(ready) else lambda: app.session, "the first data")
        await at_rest(app)
        yield JourneyHarness(place, app, pilot, Terminal(app))


def _targets(place: Harness) -> SomeTargets:
    facts = [
        TargetInfo("demo", "demo", "environment"),
        TargetInfo("staging", "staging.example", "keyring", read_only=True),
    ]
    return SomeTargets([(fact, place) for fact in facts])


async def at_rest(app: GwtuiApp, seconds: float = 60) -> None:
    """Wait until no input is queued and nothing is handled, written or read."""
    deadline, calm = time.monotonic() + seconds, 0
    while calm < 2:
        assert time.monotonic() < deadline, "the dashboard never came to rest"
        await wait_for_idle()
        calm = calm + 1 if not _busy(app) else 0


def _busy(app: GwtuiApp) -> bool:
    reading = app.session is not None and any(
        feed.watched and feed.state.refreshing for feed in app.session.hub.feeds
    )
    asking = [
        worker for worker in app.workers if not worker.is_finished and worker.group == "forms"
    ]
    return (
        reading
        or app._typed.pending
        or any(map(is_busy, (app, *app._registry)))
        or (bool(asking) and isinstance(app.screen, FormScreen))
    )


async def _gateway(client: GatewayClient) -> dict[str, list[str]]:
    keys = (await client.keys.list(include_disabled=True)).items
    rails = (await client.guardrails.list()).items
    credentials = (await client.byok.list()).items
    spaces = (await client.workspaces.list()).items
    names: dict[str | None, str | None] = {space.id: space.slug for space in spaces}
    return {
        "keys": _lines(
            (
                *(key.name, key.limit, key.limit_reset, key.disabled),
                *_workspace_and_expiry(key, names),
            )
            for key in keys
        ),
        "guardrails": _lines(
            (
                item.name,
                item.description,
                item.limit_usd,
                item.allowed_providers,
                item.reset_interval,
            )
            for item in rails
        ),
        "credentials": _lines((item.name, item.provider, item.disabled) for item in credentials),
        "workspaces": _lines((item.name, item.slug, item.description) for item in spaces),
    }


def _workspace_and_expiry(key: ApiKey, names: Mapping[str | None, str | None]) -> Sequence[object]:
    return names.get(key.workspace_id), key.expires_at and key.expires_at.date()


def _lines(rows: Iterable[Sequence[object]]) -> list[str]:
    return sorted(map(str, rows))


def _screen_state(app: GwtuiApp) -> dict[str, Any]:
    below, top = app.navigation.screen, app.screen
    results: dict[str, Any] = {
        "place": below.resource,
        "screens": [type(screen).__name__ for screen in app.screen_stack],
        "focus": _widget_name(top.focused),
        "theme": app.theme,
        "profile": app.connection.label if app.session is not None else None,
        "read-only": app.hold_reason,
        "scope": app.scope_name,
        "inputs": [_plain(item.value) for item in top.query(Input)],
    }
    if isinstance(below, ResourceScreen):
        table, spec = below.table, below.declared
        results["selected"] = None if table.selected is None else str(spec.name(table.selected))
        results["marked"] = len(table.model.marked)
        results["sorting"] = table.model.sorting
        results["rows"] = table.visible_count
        results["detail"] = below.detail.shown
    if isinstance(top, FormScreen):
        state = top.state
        fields = [field.name for field in top.spec.fields]
        results["typed"] = {name: _plain(state.typed(name)) for name in fields}
    return results


def _plain(typed: object) -> str:
    return typed.get_secret_value() if isinstance(typed, SecretStr) else str(typed)


def _widget_name(widget: Any) -> tuple[str | None, ...]:
    if widget is None:
        return ()
    rows = [node for node in widget.ancestors_with_self if isinstance(node, FieldRow)]
    return (type(widget).__name__, widget.id, *(row.field.name for row in rows))
