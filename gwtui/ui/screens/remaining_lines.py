"""One model under guardrails as lines: what remains, what is blocked and why."""

from __future__ import annotations

from textual.content import Content

from gwtui.contract.models import Endpoint
from gwtui.crud import cells
from gwtui.domain.guardrail_effect import Blocked, ModelEffect
from gwtui.domain.uptime import verdict
from gwtui.resources.guardrails.effect import endpoint_title
from gwtui.ui.tones import toned

_NAME, _STATE = 28, 12


def model_lines(effect: ModelEffect) -> list[Content]:
    """The remaining endpoints with how they do, then the blocked ones with every reason."""
    found = effect.verdict
    lines = [
        Content.assemble(
            toned(cells.text(effect.model.name or effect.model.id).text, "plain", bold=True),
            toned(f"  {found.word}", found.tone),
            toned(f": {found.why}", "muted"),
        )
    ]
    lines += [_remaining(endpoint) for endpoint in effect.remaining]
    lines += [_blocked(blocked) for blocked in effect.blocked]
    return lines


def _remaining(endpoint: Endpoint) -> Content:
    state = verdict(endpoint)
    return Content.assemble(
        toned("✓ ", "good"),
        toned(f"{endpoint_title(endpoint):<{_NAME}} "),
        toned(f"{state.word:<{_STATE}} ", state.tone),
        toned(state.why, "muted"),
    )


def _blocked(blocked: Blocked) -> Content:
    return Content.assemble(
        toned("✗ ", "bad"),
        toned(f"{endpoint_title(blocked.endpoint):<{_NAME}} ", "muted"),
        toned(", ".join(blocked.reasons)),
    )
