"""Secrets in the dashboard: typed, sent, shown once, copied, lost; every output is searched.

A provider key is stored and replaced, and a key is created, while the gateway applies it, refuses
it or loses its response. ``GWTUI_FULL=1`` combines every fault with each of them. Run with ``-rP``
for the counts.
"""

from __future__ import annotations

import asyncio
import gc
import os
import re
import stat
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sentinels import (
    FORMS,
    MARKED,
    files,
    leaks,
    logging_into,
    marked,
    minting_marked,
    open_to_others,
    processes,
    representations,
)
from textual import events

from gwtui.contract.byok import CreateByokRequest
from gwtui.embedded.faults import KINDS, FaultInjector
from gwtui.local.ledger import Ledger, this_process
from gwtui.ui.actions.tries import AnswerScreen, TryScreen
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.secret import SecretScreen
from gwtui.ui.screens.dialogs import AskScreen
from harness import Harness, dashboard, harness, listing, notices
from screen_text import screen_text
from thoroughness import FULL

SECRETS = [marked(name) for name in MARKED]
LASTING = ("hang", "hang-after", "latency", "clock-skew")
"""Faults that only delay."""
ALL_FAULTS = [name for name, kind in KINDS.items() if name not in LASTING and not kind.streams]
OPERATIONS = {"store": "createByok", "rotate": "updateByok", "create": "createKey"}
CASES = (
    [(operation, fault) for operation in OPERATIONS for fault in ALL_FAULTS]
    if FULL
    else [("store", "reset-after"), ("rotate", "409"), ("create", "500-after")]
)
pytestmark = pytest.mark.usefixtures("own_objects_only")
USER_COPIES = ("copied-*.txt",)
"""Files to which the user copies the value."""

ENDINGS = ("csv", "json", "ndjson")
"""Suffixes of exported files."""

TMUX = f"""#!{sys.executable}
import os, sys
from pathlib import Path
folder = Path(__file__).parent.parent
seen = [Path(f"/proc/self/{{name}}").read_bytes() for name in ("cmdline", "environ")]
(folder / f"tmux-{{os.getpid()}}").write_bytes(b"".join(seen))
(folder / "stdin-of-tmux").write_bytes(sys.stdin.buffer.read())
"""


@dataclass(repr=False)
class Watched(Harness):
    """A dashboard whose output is searched after each step."""

    sinks: dict[str, bytes | str] = field(default_factory=dict)

    def look(self) -> None:
        """Store the text and the picture of the screen."""
        step = len(self.sinks)
        self.sinks[f"picture {step}"] = self.app.export_screenshot()
        self.sinks[f"screen {step}"] = screen_text(self.app) + notices(self.app)

    async def press(self, *keys: str, **waits: Any) -> Any:
        await super().press(*keys)
        self.look()
        return await super().press(**waits)

    async def until(self, holds: Callable[[], Any], what: str) -> None:
        await super().until(holds, what)
        self.look()

    async def paste(self, text: str) -> None:
        self.app.focused.post_message(events.Paste(text))
        await self.pilot.pause()
        self.look()

    async def ended(self, event: str) -> None:
        await self.until(lambda: next(self.ledger.entries()).outcome == event, event)

    async def keep_representations(self) -> None:
        for name, text in (await asyncio.to_thread(representations)).items():
            self.sinks[f"{len(self.sinks)} {name}"] = text

    # Operations ---------------------------------------------------------------------------------

    async def store(self) -> None:
        await self.app.open_route("byok")
        await self.until(lambda: listing(self.app).table.selected, "the credential")
        await self.press("n", opens=FormScreen)
        await self.press(*"northwind", "tab")
        await self.paste(f" {MARKED['provider key']}\n")
        await self.press("ctrl+s")

    async def rotate(self) -> None:
        await self.app.open_route("byok")
        await self.until(lambda: listing(self.app).table.selected, "the credential")
        await self.press("N", opens=FormScreen)
        await self.paste(MARKED["rotated key"])
        await self.press("ctrl+s", opens=ConfirmScreen)
        await self.press("right", "enter")

    async def create(self) -> None:
        await self.app.open_route("keys")
        await self.until(lambda: listing(self.app).states[0].fetched_at, "the keys")
        await self.press("n", opens=FormScreen)
        await self.press(*"zz new", "tab", "5", "ctrl+s")

    async def attempt(self) -> None:
        """Test an unknown key; the prompt is as secret as the key."""
        await self.app.open_route("models")
        await self.until(lambda: listing(self.app).table.selected, "the models")
        await self.press("T", opens=TryScreen)
        await self.press("home")
        await self.press(*"A question about nothing", "pagedown")
        await self.paste(f" {MARKED['new key']}\n")
        screen = await self.press("ctrl+s", opens=AnswerScreen)
        await self.until(lambda: screen.tried is not None, "the refusal")

    async def take_out(self, route: str) -> None:
        """Copy and export rows of a list in every format."""
        copied = self.ledger.path.parent.with_name("stdin-of-tmux")
        await self.app.open_route(route)
        await self.until(lambda: listing(self.app).table.selected, "a row")
        for keys in ("yi", "yn", "yj", "ycurl", "yl", "Yc", "Yj", "Yn", "vyj"):
            self.app.clear_notifications()
            await self.press(*keys, "enter", says="Copied by tmux")
            self.sinks[f"{keys} of {route}"] = await asyncio.to_thread(copied.read_bytes)
        await self.press("escape")
        for ending in ENDINGS:
            self.app.clear_notifications()
            await self.press("Y", *ending, "space", *"file", "enter", says="written to")

    async def take(self) -> str:
        """Copy the new key in every way, look at it, and return it."""
        copied = self.ledger.path.parent.with_name("stdin-of-tmux")
        screen = await self.wait_for(SecretScreen)
        await self.press("y")
        await self.until(lambda: "Copied by tmux" in screen_text(self.app), "the copy")
        copied.rename(copied.with_name("copied-by-tmux.txt"))
        await self.press("s")
        await self.until(lambda: "Saved to" in screen_text(self.app), "the file")
        await self.pilot.press("v")  # shown on request
        assert marked("new key").piece in screen_text(self.app).replace("\n", "").replace(" ", "")
        await self.pilot.press("v")
        self.look()
        return str(screen._value.get_secret_value())


@asynccontextmanager
async def world(folder: Path) -> AsyncIterator[Watched]:
    with minting_marked(), logging_into(folder):
        async with harness(Watched, content="empty", faults=FaultInjector()) as place:
            place.ledger = Ledger(folder / "audit.jsonl")
            assert place.token == MARKED["token"]
            async with place.colleague() as client:
                request = CreateByokRequest.model_validate(
                    {"provider": "northwind", "key": "sk-before-0123456789", "name": "Main"}
                )
                await client.byok.create(request)
            yield place


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tmux that records how it was called."""
    program = tmp_path / "bin" / "tmux"
    program.parent.mkdir()
    program.write_text(TMUX)
    program.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")


def held_secrets() -> set[str]:
    """The marked secrets that any object of the program still holds."""
    gc.collect()
    values = [item.get_secret_value() for item in gc.get_objects() if isinstance(item, SecretStr)]
    return {name for name in MARKED for value in values if value.startswith(MARKED[name])}


def assert_no_leaks(desk: Watched, out: str, err: str, folder: Path) -> None:
    assert open_to_others(folder / "state", folder / "home") == []
    sinks = {**desk.sinks, "stdout": out, "stderr": err, **processes(os.getpid())}
    sinks |= files(folder, apart_from=USER_COPIES)
    assert leaks(sinks, SECRETS) == []
    print(f"{len(SECRETS)} secrets x {len(FORMS)} forms x {len(sinks)} sinks")


async def test_storing_rotating_and_creating_keys_leaks_no_secret(
    state: Path,
    tmp_path: Path,
    tmux: None,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    async with world(state) as desk:
        async with dashboard(desk, start="byok", size=(80, 24)):
            await desk.store()
            await desk.until_notice("created; its key is never shown again")
            await desk.rotate()
            await desk.until_notice("replaced; it is now")
            await desk.take_out("byok")
            await desk.create()
            value = await desk.take()
            await desk.keep_representations()
        # Left by a program that ended: the key is offered, and its value is stored nowhere.
        lines = desk.ledger.path.read_text()
        desk.ledger.path.write_text(lines.replace(str(this_process()["began"]), "another life"))
        async with dashboard(desk, size=(80, 24), loaded=False):
            await desk.wait_for(AskScreen)
            await desk.reads("Nobody has confirmed that the value")
            await desk.press("escape")
            await desk.back_to_list()
            await desk.take_out("keys")
            assert await asyncio.to_thread(held_secrets) == {"token"}, "no object holds the new key"
            await desk.keep_representations()
    copied = files(tmp_path)
    exported = {name: content for name, content in copied.items() if Path(name).parent == tmp_path}
    assert {f"gwtui-{name}.{end}" for name in ("byok", "keys") for end in ENDINGS} <= {
        re.sub("-[0-9TZ]+", "", Path(name).name) for name, content in exported.items() if content
    }
    user_copies = [
        name for name in copied if any(Path(name).match(pattern) for pattern in USER_COPIES)
    ]
    assert len(user_copies) == 2
    assert all(copied[name].endswith(value.encode()) for name in user_copies)
    assert any(Path(name).name.startswith("tmux-") for name in copied)
    assert_no_leaks(desk, *capfd.readouterr(), tmp_path)


async def test_testing_a_key_leaks_no_secret(
    state: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with world(state) as desk:
        async with dashboard(desk, start="models", size=(80, 24)):
            await desk.attempt()
            assert "Key not usable" in screen_text(desk.app)
            await desk.press("escape", opens=TryScreen)
            desk.faults.arm("500:createChatCompletion x1")
            await desk.press("ctrl+s", opens=AnswerScreen)
            await desk.until(
                lambda: "500" in screen_text(desk.app) or "ailed" in screen_text(desk.app),
                "the failure",
            )
            await desk.keep_representations()
            await desk.press("escape", opens=TryScreen)
            await desk.press("escape")
            await desk.back_to_list()
        assert await asyncio.to_thread(held_secrets) <= {"token"}, "no object holds the key"
    assert not [name for name, content in files(tmp_path).items() if b"about nothing" in content]
    assert_no_leaks(desk, *capfd.readouterr(), tmp_path)


@pytest.mark.parametrize(("operation", "fault"), CASES)
async def test_failed_writes_leak_no_secret(
    operation: str, fault: str, state: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with world(state) as desk, dashboard(desk, start="byok", size=(80, 24)):
        desk.faults.arm(f"{fault}:{OPERATIONS[operation]} x1")
        await getattr(desk, operation)()
        await desk.ended("refused" if fault.startswith("4") else "unknown")
        await desk.pilot.pause(0.1)
        desk.look()
        await desk.keep_representations()
    assert_no_leaks(desk, *capfd.readouterr(), tmp_path)
