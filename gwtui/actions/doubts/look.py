"""What a look into a write in doubt is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gwtui.actions.doubts.nearness import REACHES
from gwtui.client.gateway import GatewayClient
from gwtui.local.journal import OpenIntent


@dataclass(frozen=True, slots=True)
class Look:
    """One look into one write in doubt.

    ``reach`` is how far before and after it is looked for what it may have made; ``makers`` names
    the other writes of this machine by what they are known to have made.
    """

    client: GatewayClient
    intent: OpenIntent
    now: datetime
    reach: timedelta = REACHES[0]
    makers: Mapping[str, str] = field(default_factory=dict)
