"""The form of a rule, with a line on what it would have told in the last days."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from textual import work
from textual.content import Content

from gwtui.crud.form import Facts, FormSpec
from gwtui.crud.resource import Cell
from gwtui.domain.alert_rules import AlertRule
from gwtui.domain.times import DAY, age
from gwtui.ui.forms.form_screen import FormScreen, Submit
from gwtui.ui.tones import cell_content
from gwtui.watch.alerts.preview import Preview
from gwtui.watch.history.errors import HistoryError

Try = Callable[[AlertRule], AsyncIterator[Preview]]

_TYPING = 0.25
"""Seconds without a key before the past is looked at."""
_WEEK = 6.9 * DAY
_NOUNS = {
    "endpoint": "endpoints",
    "key": "keys",
    "workspace": "workspaces",
    "guardrail": "models under guardrails",
    "gateway": "lists",
}


class AlertRuleScreen(FormScreen[str]):
    """Saves a rule; what is typed is tried on the past while it is typed."""

    def __init__(self, spec: FormSpec, facts: Facts, submit: Submit[str], trial: Try) -> None:
        super().__init__(spec, facts, submit)
        self._trial = trial
        self._tried: AlertRule | None = None
        self._found = Cell("")

    def _keys(self) -> str:
        return "Tab next · Ctrl+S saves · Esc leaves"

    def _show(self) -> None:
        super()._show()
        rule = self.state.request()
        if isinstance(rule, AlertRule) and rule != self._tried:
            self._tried = rule
            self._look_back(rule)

    def _message(self) -> Content:
        said = super()._message()
        return said if said.plain else cell_content(self._found)

    @work(group="preview", exclusive=True)
    async def _look_back(self, rule: AlertRule) -> None:
        await asyncio.sleep(_TYPING)
        try:
            async for found in self._trial(rule):
                self._found = preview_cell(found, rule)
                self._show_message()
        except HistoryError as error:
            self._found = Cell(f"It cannot be tried on the past: {error}", "muted")
            self._show_message()


def preview_cell(found: Preview, rule: AlertRule) -> Cell:
    """What a rule would have told, in a sentence."""
    if not found.recorded:
        return Cell("Nothing is recorded yet that it could be tried on.", "muted")
    noun = _NOUNS.get(rule.RESOURCE, "")
    if not found.of:
        return Cell(
            f"Nothing that it watches is recorded yet{f' ({noun})' if noun else ''}.", "muted"
        )
    seconds = found.recorded.total_seconds()
    when = "last week" if seconds >= _WEEK else f"in the {age(seconds)} recorded so far"
    if not found.fired:
        text = f"Would not have fired {when}"
    else:
        often = "once" if found.fired == 1 else f"{found.fired} times"
        text = f"Would have fired {often} {when}"
    if found.still:
        text += f"; {found.still} would be firing now"
    if not found.is_whole:
        text += f" (so far {found.subjects} of {found.of} {noun} were looked at)"
    return Cell(f"{text}.", "warn" if found.fired else "plain")
