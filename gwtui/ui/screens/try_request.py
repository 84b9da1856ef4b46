"""The form of a request to a model: it stays, with everything typed, while answers come and go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from gwtui.crud.form import Facts, FormSpec
from gwtui.domain.diffs import ABSENT
from gwtui.resources.tries.form import KEPT
from gwtui.ui.forms.form_screen import FormScreen, Submit
from gwtui.ui.forms.row import FieldRow


class TryScreen(FormScreen[str]):
    """Fills in a request. Gives back the id of a generation to be opened.

    ``keep`` gets what stands in the fields when the form ends, however that happens, so that
    nothing typed is lost; the key is not among it.
    """

    SENDING: ClassVar[str] = "Reading what it may cost at most…"
    KEEPS: ClassVar[Sequence[str]] = KEPT
    """Fields that are kept."""

    def __init__(
        self,
        spec: FormSpec,
        facts: Facts,
        submit: Submit[str],
        keep: Callable[[Mapping[str, Any]], None],
    ) -> None:
        super().__init__(spec, facts, submit)
        self._keep = keep

    def on_mount(self) -> None:
        """The first field that is still to be filled in has the keys."""
        first = [name for name in ("model", "prompt") if name in self.state.fields]
        empty = next((name for name in first if not self.state.typed(name)), "prompt")
        row = f"#{self.state.fields[empty].row_id}"
        self.query_one(row, FieldRow).editor.focus()

    @property
    def unsaved(self) -> bool:
        """What was typed is kept for as long as the program runs."""
        return self.state.changed

    @property
    def loss(self) -> str:
        """What quitting now would lose."""
        return "What was typed into the form is kept nowhere."

    def action_leave(self) -> None:
        """Close: what was typed stands here again the next time."""
        if self._sending:
            self.app.bell()
        else:
            self.dismiss(None)

    def on_unmount(self) -> None:
        """Keep what was typed, in memory."""
        values = {name: self.state.value(name) for name in self.KEEPS}
        self._keep({name: value for name, value in values.items() if value is not ABSENT})
