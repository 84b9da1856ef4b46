"""The form of a guardrail with a look at what it would leave of the catalog."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrails import Guardrail
from gwtui.crud.form import Facts, FormSpec
from gwtui.domain.clock import Clock
from gwtui.domain.guardrail_effect import restrictions_of
from gwtui.resources.guardrails.effect import NamedRestrictions
from gwtui.ui.forms.form_screen import FormScreen, Submit
from gwtui.ui.screens.remaining import RemainingScreen
from gwtui.watch.hub import FeedHub


class GuardrailFormScreen(FormScreen[Guardrail]):
    """F2 applies what was typed so far to the catalog; nothing is sent for that."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f2", "remaining", show=False)]

    def __init__(
        self,
        spec: FormSpec,
        facts: Facts,
        submit: Submit[Guardrail],
        *,
        hub: FeedHub,
        clock: Clock,
        dialect: Dialect,
    ) -> None:
        super().__init__(spec, facts, submit)
        self._hub = hub
        self._clock = clock
        self._dialect = dialect

    def action_remaining(self) -> None:
        """Show which endpoints remain under the rules as they are typed."""
        rules = restrictions_of(self.state.values())
        named = NamedRestrictions("the rules of this form", rules)
        self.app.push_screen(RemainingScreen(self._hub, self._clock, self._dialect, named))
