"""Evidence screen: an unresolved change, the current state, and how the two compare."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from textual import on
from textual.app import ComposeResult

from gwtui.crud.action import COPY
from gwtui.crud.evidence import (
    CANDIDATE_COLUMNS,
    CANDIDATE_SECTIONS,
    EVIDENCE_SECTIONS,
    Evidence,
    title_of,
)
from gwtui.resources.entries import EVIDENCE
from gwtui.resources.recovery import Inspection, evidence_feed
from gwtui.ui.screens.base import TableScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.widgets.detail import section_lines
from gwtui.ui.widgets.lines import LinesView
from gwtui.ui.widgets.table import Highlighted, ResourceTable
from gwtui.watch.feed import FeedState
from gwtui.watch.hub import FeedHub, Scope

_MARGINS = 3
_WIDEST = 100
_MOST_ABOUT = 9
"""Maximum number of lines about the change above the list of candidates."""
_MOST_ROWS = 7


class RecoveryScreen(TableScreen):
    """The evidence on an unresolved change. It suggests no answer: the user decides.

    ``parent`` is the id of the plan that sent the change.
    """

    opens = "evidence.show"

    def __init__(self, **opened_by: Any) -> None:
        super().__init__(EVIDENCE, title="Evidence", extra_scopes=(COPY,), **opened_by)
        self._inspection: Inspection | None = None
        self.table = ResourceTable(
            CANDIDATE_COLUMNS,
            lambda candidate: candidate.identity,
            lambda: self.now,
            id="recovery-candidates",
        )

    # Hooks of the frame -----------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        yield LinesView(id="recovery-about")
        yield self.table
        yield LinesView(id="recovery-candidate")

    def on_mount(self) -> None:
        self.table.sort_by("apart", descending=False)

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        return [(evidence_feed(hub, Scope(parent=self.parent_row)), self._show)]

    def empty_text(self) -> str | None:
        if self._inspection is None or self._inspection.evidence is not None:
            return None
        return "The audit log shows its outcome. {app.back} goes back."

    def empty_title(self) -> str:
        return "This change is resolved"

    def crumbs(self) -> Sequence[str]:
        """Return the breadcrumbs: the list of unresolved changes, then this change."""
        if self.evidence is not None:
            self.parent_name = title_of(self.evidence)
        return super().crumbs()[:-1]

    def tick(self, now: datetime) -> None:
        self._lay_out(now)

    def focus_body(self) -> None:
        """Focus the candidates; without any, focus the lines about the change."""
        body = self.table if self.table.display else self.query_one("#recovery-about")
        self.set_focus(body)

    # What actions do --------------------------------------------------------------------------

    @property
    def evidence(self) -> Evidence | None:
        """What shows whether the change was applied; None while loading, or if it is resolved."""
        return None if self._inspection is None else self._inspection.evidence

    # Showing ----------------------------------------------------------------------------------

    def _show(self, state: FeedState[Inspection]) -> None:
        if state.value is None:
            return
        self._inspection = state.value
        evidence = self.evidence
        candidates = () if evidence is None else evidence.candidates
        self.table.show(candidates)
        self.table.display = bool(candidates)
        self.query_one("#recovery-candidate").display = bool(candidates)
        self._lay_out(self.now)
        if self.is_current:
            self.focus_body()

    @on(Highlighted)
    def _highlighted(self) -> None:
        self._lay_out(self.now)

    def _lay_out(self, now: datetime) -> None:
        evidence = self.evidence
        if evidence is None or not self.is_open:
            return
        width = min(_WIDEST, self.app.size.width - _MARGINS)
        about = self.query_one("#recovery-about", LinesView)
        lines = section_lines(title_of(evidence), EVIDENCE_SECTIONS, evidence, now, width)
        about.show(lines)
        rows = len(evidence.candidates)
        about.styles.height = min(len(lines), _MOST_ABOUT) if rows else "1fr"
        if rows:
            self.table.styles.height = min(rows, _MOST_ROWS) + 1
            candidate = self.table.selected or evidence.candidates[0]
            self.query_one("#recovery-candidate", LinesView).show(
                section_lines(candidate.name, CANDIDATE_SECTIONS, candidate, now, width)
            )
