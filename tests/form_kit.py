"""A small app that hosts forms without a gateway, and a scripted submit function."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from textual import events
from textual.pilot import Pilot
from textual.screen import Screen

import harness
from gwtui.contract.keys import ApiKey
from gwtui.contract.request import RequestModel
from gwtui.crud.fields import PreviewContext
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Applied, Outcome
from gwtui.resources.keys.writes import WRITES
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.terminal.app import TerminalApp
from gwtui.ui.themes import DEFAULT_THEME, THEMES, style_sheets
from plan_kit import form_context
from screen_text import screen_text, terminal_text

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
SPACE = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
CREATED = Applied("made")
FACTS = PreviewContext(now=lambda: NOW, zone=UTC, workspaces={SPACE: "Research"})


def api_key(**changes: Any) -> ApiKey:
    body = {
        "hash": "h" * 64,
        "name": "ci",
        "label": "gw-v1-abc...123",
        "disabled": False,
        "limit": 100,
        "limit_remaining": 60,
        "limit_reset": "monthly",
        "include_byok_in_limit": False,
        "workspace_id": SPACE,
        "expires_at": "2026-12-31T00:00:00Z",
        **changes,
    }
    return ApiKey.model_validate({k: v for k, v in body.items() if v is not ...})


class HostApp(TerminalApp):
    """Shows one modal screen and stores its result."""

    def __init__(self, modal: Screen[Any]) -> None:
        super().__init__(css_path=style_sheets())
        self.modal = modal
        self.results: list[Any] = []
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DEFAULT_THEME

    async def on_mount(self) -> None:
        await self.push_screen(self.modal, self.results.append)

    async def open_route(self, route: str) -> None:
        """Open nothing: there are no other screens."""


class ScriptedSubmit:
    """Answers each submission as the test says, and waits where required."""

    def __init__(self, *outcomes: Outcome[Any] | None) -> None:
        self.outcomes = list(outcomes)
        self.bodies: list[dict[str, Any]] = []
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self, request: RequestModel) -> Outcome[Any] | None:
        self.bodies.append(request.body())
        await self.go.wait()
        return self.outcomes.pop(0)


def form(submit: ScriptedSubmit, spec: FormSpec | None = None) -> FormScreen[Any]:
    return FormScreen(spec or WRITES.create_form(form_context()), FACTS, submit)


async def until(pilot: Pilot[Any], holds: Callable[[], Any], what: str) -> None:
    """Wait until a condition holds for the whole screen; raises AssertionError after a minute."""
    await harness.until(pilot, lambda: holds() and pilot.app.screen.is_mounted, what)


class FormHarness:
    """A form at 80x24, and the requests that it submitted."""

    def __init__(self, spec: FormSpec | None = None, *outcomes: Any) -> None:
        self.submit = ScriptedSubmit(*(outcomes or (CREATED,)))
        self.form: FormScreen[Any] = form(self.submit, spec)
        self.app = HostApp(self.form)
        self.pilot: Pilot[None]

    async def __aenter__(self) -> FormHarness:
        self._running = self.app.run_test(size=(80, 24))
        self.pilot = await self._running.__aenter__()
        await self.pilot.pause()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._running.__aexit__(*error)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def paste(self, text: str) -> None:
        self.app.screen.focused.post_message(events.Paste(text))
        await self.pilot.pause()

    async def open(self, name: str, kind: type[Any]) -> Any:
        self.form.query_one(f"#field-{name}", FieldRow).editor.focus()
        await self.pilot.press("enter")
        await self.until(lambda: isinstance(self.app.screen, kind), kind.__name__)
        return self.app.screen

    async def until(self, holds: Callable[[], Any], what: str) -> None:
        await until(self.pilot, holds, what)

    async def back(self) -> None:
        await self.until(lambda: self.app.screen is self.form, "the form")

    async def send(self) -> dict[str, Any]:
        await self.press("ctrl+s")
        await self.until(lambda: self.submit.bodies, "the request")
        return self.submit.bodies[-1]

    def screen_text(self) -> str:
        return screen_text(self.app)

    def terminal_text(self) -> str:
        """The text of the screen, footer included."""
        return terminal_text(self.app)
