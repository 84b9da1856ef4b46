"""What is said of an action that failed, where that can be foreseen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from gwtui.client.errors import GatewayError
from gwtui.contract.request import problems

if TYPE_CHECKING:
    from gwtui.ui.actions.context import DashboardApp


def told(app: DashboardApp, error: Exception) -> bool:
    """Say why an action failed; False for an error that nobody foresaw.

    A request made of what the gateway gave may break the contract: then it is not sent.
    """
    if isinstance(error, GatewayError):
        app.say(error.message, severity="error")
        return True
    if isinstance(error, ValidationError):
        why = "; ".join(map(str, problems(error)))
        app.say(f"Nothing was sent, the contract forbids it: {why}", severity="error")
        return True
    return False
