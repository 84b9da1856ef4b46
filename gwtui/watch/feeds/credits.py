"""Credits of the account. See "Credits" in the contract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from gwtui.contract.usage import Credits
from gwtui.domain.runway import Rate, Runway, runway, since_midnight
from gwtui.watch import cadence
from gwtui.watch.feeds.keys import KeyRow, read_keys
from gwtui.watch.feeds.recorded import credits_past_feed
from gwtui.watch.hub import FeedReader, FeedSpec, Scope

if TYPE_CHECKING:
    from gwtui.watch.history.reader import CreditsState


credits_feed = FeedSpec(
    "credits", lambda reader, _scope: reader.client.credits.get(), cadence.CREDITS
)
"""The credits of the account, which all workspaces share."""


OutlookData: TypeAlias = "tuple[Rate | None, CreditsState | None]"
"""The burn rate today, and the recorded credits."""


@dataclass(frozen=True, slots=True)
class CreditsRow:
    """The credits with data for their outlook.

    ``today`` is the burn rate from the usage of all keys since 00:00 UTC, None if unknown. ``past``
    are the recorded credits, None without a recording.
    """

    credits: Credits
    today: Rate | None = None
    past: CreditsState | None = None

    @property
    def runway(self) -> Runway | None:
        """How long the credits last; None if unknown."""
        recorded = () if self.past is None else self.past.rates
        return runway(self.credits.balance, recorded, self.today)


async def _rows(reader: FeedReader, _scope: Scope) -> Sequence[CreditsRow]:
    return (CreditsRow(await reader.client.credits.get()),)


credits_rows_feed = FeedSpec("credits:list", _rows, cadence.CREDITS)
"""The credits as a list of one."""


def rate_today(keys: Sequence[KeyRow], read_at: datetime) -> Rate | None:
    """The burn rate from 00:00 UTC to ``read_at``, when the keys were read; None if unknown."""
    known = [row.key.usage_daily for row in keys if row.key.usage_daily is not None]
    used = sum(known, Decimal(0)) if known or not keys else None
    return since_midnight(used, read_at)


async def _outlook_data(reader: FeedReader, _scope: Scope) -> OutlookData:
    keys = await read_keys(reader, None)
    past = (await credits_past_feed(reader.hub).refresh()).value
    return rate_today(keys, reader.clock.now()), None if past is None else past.state


outlook_data_feed = FeedSpec("credits:outlook", _outlook_data, cadence.CREDITS)
"""The burn rate today, and the recorded credits."""
