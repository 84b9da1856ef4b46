"""A small app that hosts forms without a gateway, and an executor that the test scripts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from gwtui.contract.request import RequestModel
from gwtui.crud.fields import Facts
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Outcome
from gwtui.resources.keys.writes import WRITES
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.terminal.app import TerminalApp
from gwtui.ui.themes import DEFAULT_THEME, THEMES, style_sheets
from plan_kit import form_context

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
SPACE = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
FACTS = Facts(now=lambda: NOW, zone=UTC, workspaces={SPACE: "Research"})


class HostApp(TerminalApp):
    """Shows one modal screen and keeps what it gave back."""

    def __init__(self, modal: Screen[Any]) -> None:
        super().__init__(css_path=style_sheets())
        self.modal = modal
        self.results: list[Any] = []
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DEFAULT_THEME

    async def on_mount(self) -> None:
        await self.push_screen(self.modal, self.results.append)


class ScriptedSubmit:
    """Answers each submission the way the test says; waits where it is told to."""

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
    """Wait until something holds on a whole screen, for a minute at most: machines may be busy."""
    deadline = time.monotonic() + 60
    while not (holds() and pilot.app.screen.is_mounted):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        await pilot.pause(0.02)
    await pilot.pause()
