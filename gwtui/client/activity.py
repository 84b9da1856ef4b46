"""Activity of the last completed days: extended contract section 8."""

from __future__ import annotations

from gwtui.client.call import Call, Caller, given
from gwtui.client.paging import Listing, listing_of
from gwtui.client.reading import read_rows
from gwtui.contract.activity import ActivityRow


class ActivityService:
    """What the account's endpoints did, day by day."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def list(
        self,
        *,
        date: str | None = None,
        api_key_hash: str | None = None,
        user_id: str | None = None,
        workspace_id: str | None = None,
        by_workspace: bool = False,
    ) -> Listing[ActivityRow]:
        """The rows of the last 30 completed UTC days, or of one ``date`` (YYYY-MM-DD).

        ``by_workspace`` splits each row by workspace and names it. Not paged. Raises GatewayError.
        """
        query = given(
            date=date,
            api_key_hash=api_key_hash,
            user_id=user_id,
            workspace_id=workspace_id,
            group_by="workspace" if by_workspace else None,
        )
        answer = await self._caller.call(Call("GET", "/activity", query=query))
        return listing_of(read_rows(answer), ActivityRow)
