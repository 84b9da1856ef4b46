"""A form at 80x24, as forms are at their narrowest, and what stands in its way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual import events
from textual.pilot import Pilot

from form_kit import HostApp, ScriptedSubmit, form, until
from gwtui.client import errors
from gwtui.contract.guardrails import UpdateGuardrailRequest
from gwtui.crud.fields import Field, PickOption
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Applied
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.row import FieldRow
from screen_text import shown, whole

SIZE = (80, 24)

MADE = Applied("made")


SECRET = "sk-provider-0123456789abcdef"


async def models() -> Sequence[PickOption]:
    return [PickOption(f"vendor-{n % 9}/model-{n}", note=f"Model {n}") for n in range(400)]


async def refuse() -> Sequence[PickOption]:
    raise errors.ServerError("the catalog is away", status=500)


def one(field: Field, **initial: Any) -> FormSpec:
    """An update of a guardrail with one field."""
    given = {"name": "g", **initial}
    fields = (Field("name", "Name", kind="text"), field)
    return FormSpec("Edit", UpdateGuardrailRequest, fields, "Save", initial=given, partial=True)


class Desk:
    """A form at 80x24, and what it sent."""

    def __init__(self, spec: FormSpec, *outcomes: Any) -> None:
        self.submit = ScriptedSubmit(*(outcomes or (MADE,)))
        self.form: FormScreen[Any] = form(self.submit, spec)
        self.app = HostApp(self.form)
        self.pilot: Pilot[None]

    async def __aenter__(self) -> Desk:
        self._running = self.app.run_test(size=SIZE)
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
        await until(self.pilot, lambda: isinstance(self.app.screen, kind), kind.__name__)
        return self.app.screen

    async def back(self) -> None:
        await until(self.pilot, lambda: self.app.screen is self.form, "the form")

    async def send(self) -> dict[str, Any]:
        await self.press("ctrl+s")
        await until(self.pilot, lambda: self.submit.bodies, "the request")
        return self.submit.bodies[-1]

    def shown(self) -> str:
        return shown(self.app)

    def whole(self) -> str:
        """With the footer."""
        return whole(self.app)
