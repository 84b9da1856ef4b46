"""The samples of a guardrail: what should happen to each, and what did."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import ClassVar, Protocol

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.worker import Worker

from gwtui.client.errors import GatewayError
from gwtui.client.inference import Inference
from gwtui.client.refusals import refusal_kind
from gwtui.domain.clock import Clock
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.lazy_dataclass import dataclass
from gwtui.local.guardrail_samples import GuardrailSample
from gwtui.resources.guardrails.testing import SAMPLE_COLUMNS, SampleResult, SampleRow, run_summary
from gwtui.ui.input_queue import OPENING
from gwtui.ui.screens.modal import Modal
from gwtui.ui.text import cell_content, toned
from gwtui.ui.widgets.containers import BlankVertical
from gwtui.ui.widgets.lines import LinesView, OneLine
from gwtui.ui.widgets.table import Highlighted, ResourceTable

_MESSAGE = 300
_PROMPT = 4_000
_MARGINS = 3


@dataclass(frozen=True, slots=True)
class SampleRun:
    """A run that is ready: its requests are sent as ``results`` is iterated over.

    ``notes`` are sentences that the person should know. ``refresh`` reads again what was changed.
    """

    models: Inference
    results: AsyncIterator[SampleResult]
    notes: Sequence[str]
    refresh: Callable[[], Awaitable[None]]


class SampleHost(Protocol):
    """What the screen asks of its actions. All of them may ask a person."""

    async def edit(
        self, sample: GuardrailSample | None, all: Sequence[GuardrailSample]
    ) -> Sequence[GuardrailSample] | None:
        """All samples with this one changed, or a new one; None when nothing was changed."""

    async def delete(
        self, sample: GuardrailSample, all: Sequence[GuardrailSample]
    ) -> Sequence[GuardrailSample] | None:
        """All samples but this one; None when it stays."""

    async def prepare(self, all: Sequence[GuardrailSample]) -> SampleRun | None:
        """A run of all of them; None when it is not wanted."""


class SamplesScreen(Modal[None]):
    """A table of samples. One run at a time; leaving stops it and hangs up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", show=False),
        Binding("n", "add", show=False),
        Binding("e,enter", "edit", show=False),
        Binding("D,delete", "remove", show=False),
        Binding("R", "run", show=False),
    ]

    def __init__(
        self, name: str, samples: Sequence[GuardrailSample], desk: SampleHost, clock: Clock
    ) -> None:
        super().__init__()
        self._name_shown = safe_line(name, 60)
        self._rows = [SampleRow(sample) for sample in samples]
        self._desk = desk
        self._run: SampleRun | None = None
        self._sending: Worker[None] | None = None
        self._said: Content | None = None
        self._table: ResourceTable[SampleRow] = ResourceTable(
            SAMPLE_COLUMNS, lambda row: row.sample.name, clock.now, id="samples-table"
        )

    def compose(self) -> ComposeResult:
        """Title, state, the table, the selected sample, keys."""
        with BlankVertical(id="samples"):
            yield OneLine(id="samples-title")
            yield OneLine(id="samples-state")
            yield self._table
            yield LinesView(id="samples-lines")
            yield OneLine(id="samples-keys")

    def on_mount(self) -> None:
        """The samples, as none was run yet."""
        self.query_one("#samples-title", OneLine).show(
            Content.assemble(
                toned("Samples of ", "accent", bold=True),
                toned(self._name_shown, "plain", bold=True),
            )
        )
        self._table.focus()
        self._show()

    @property
    def under_way(self) -> bool:
        """Whether samples are being sent."""
        return any(row.running for row in self._rows)

    @property
    def unsaved(self) -> bool:
        """Whether quitting now would lose something."""
        return self.under_way

    @property
    def loss(self) -> str:
        """What quitting now would lose."""
        return "Samples are being sent; the one that is under way may be billed."

    @property
    def samples(self) -> tuple[GuardrailSample, ...]:
        """All of them, in their order."""
        return tuple(row.sample for row in self._rows)

    # Samples --------------------------------------------------------------------------------

    @work(group=OPENING, exclusive=True)
    async def action_add(self) -> None:
        """A new sample."""
        if not self.under_way:
            self._take(await self._desk.edit(None, self.samples))

    @work(group=OPENING, exclusive=True)
    async def action_edit(self) -> None:
        """Change the selected sample."""
        row = self._table.selected
        if row is not None and not self.under_way:
            self._take(await self._desk.edit(row.sample, self.samples))

    @work(group=OPENING, exclusive=True)
    async def action_remove(self) -> None:
        """Delete the selected sample."""
        row = self._table.selected
        if row is not None and not self.under_way:
            self._take(await self._desk.delete(row.sample, self.samples))

    def _take(self, samples: Sequence[GuardrailSample] | None) -> None:
        """These are the samples now; what became of those that stay the same is kept."""
        if samples is not None:
            known = {row.sample: row for row in self._rows}
            self._rows = [known.get(sample, SampleRow(sample)) for sample in samples]
            self._said = None
            self._show()

    # Running --------------------------------------------------------------------------------

    @work(group=OPENING, exclusive=True)
    async def action_run(self) -> None:
        """Ask for the key, then send them all, one after the other."""
        if self.under_way:
            return
        if not self._rows:
            self.app.bell()
            return
        run = await self._desk.prepare(self.samples)
        if run is not None:
            self._run, self._said = run, None
            self._rows = [SampleRow(row.sample) for row in self._rows]
            self._mark(0)
            self._sending = self.run_worker(self._send_all(run), name="samples", group="samples")

    async def _send_all(self, run: SampleRun) -> None:
        try:
            place = 0
            async for result in run.results:
                self._rows[place] = SampleRow(result.sample, result)
                place += 1
                self._mark(place)
        except GatewayError as error:
            self._stop(f"Stopped: {refusal_kind(error)}: {safe_line(error.message, _MESSAGE)}")
        await run.models.close()
        await run.refresh()

    def _mark(self, place: int) -> None:
        """The sample at this place is under way."""
        if place < len(self._rows):
            self._rows[place] = SampleRow(self._rows[place].sample, running=True)
        self._show()

    def _stop(self, words: str) -> None:
        self._rows = [SampleRow(row.sample, row.result) for row in self._rows]
        self._said = toned(words, "warn")
        self._show()

    def action_leave(self) -> None:
        """Stop what is under way, else close."""
        if self._sending is not None and self.under_way:
            self._sending.cancel()
            if self._run is not None:
                self.run_worker(self._after_stop(self._run), name="after", group="after")
            self._stop("Stopped: the connection is closed; what was under way may be billed")
        else:
            self.dismiss()

    async def _after_stop(self, run: SampleRun) -> None:
        await run.models.close()
        await run.refresh()

    async def on_unmount(self) -> None:
        """However the screen ends, the connection ends with it, and the key is let go of."""
        run, self._run = self._run, None
        if run is not None:
            await run.models.close()

    # Showing --------------------------------------------------------------------------------

    @on(Highlighted)
    def _selected(self, event: Highlighted) -> None:
        event.stop()
        self._show_lines()

    def on_resize(self) -> None:
        """Fold the selected sample anew."""
        self._show_lines()

    def _show(self) -> None:
        if not self.is_attached:
            return
        self._table.show(tuple(self._rows))
        state = cell_content(run_summary(self._rows))
        if self._said is not None:
            state = Content.assemble(self._said, toned(" · ", "muted"), state)
        elif self._run is not None and self._run.notes:
            notes = toned(" · ".join(self._run.notes), "warn")
            state = Content.assemble(state, toned(" · ", "muted"), notes)
        self.query_one("#samples-state", OneLine).show(state)
        self.query_one("#samples-keys", OneLine).show(toned(self._keys(), "muted"))
        self._show_lines()

    def _keys(self) -> str:
        if self.under_way:
            return "Esc stops and hangs up"
        if not self._rows:
            return "n adds a sample · Esc closes"
        return "R runs them all · n new · e edit · D delete · Esc closes"

    def _show_lines(self) -> None:
        row = self._table.selected
        lines = [] if row is None else self._lines(row)
        if not self._rows:
            lines = [toned("No sample yet: n adds one. They are kept in a file of yours.", "muted")]
        self.query_one("#samples-lines", LinesView).show(lines)

    def _lines(self, row: SampleRow) -> list[Content]:
        """The prompt of a sample, and why it came out so."""
        width = max(20, self.app.size.width - _MARGINS)
        texts = [
            Content.assemble(
                toned("expected ", "muted"),
                toned(safe_line(row.sample.expect, 20), "plain", bold=True),
                toned(", got ", "muted"),
                cell_content(row.got),
                toned(f" · {safe_line(row.sample.model or 'the model of the run', 80)}", "muted"),
            )
        ]
        if row.why:
            texts.append(toned(row.why, "warn"))
        prompt = safe_text(row.sample.prompt, _PROMPT, newlines=True)
        texts.append(toned(prompt))
        return [line for text in texts for line in text.wrap(width)]
