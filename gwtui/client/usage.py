"""Credits, activity and generations: contract "Credits"; extended contract section 8."""

from __future__ import annotations

from gwtui.client.answers import read_one, read_rows
from gwtui.client.call import Call, Caller, query_params, validated
from gwtui.client.paging import Listing, listing_of
from gwtui.contract.usage import (
    ActivityRow,
    Credits,
    FeedbackRequest,
    Generation,
    GenerationContent,
)


def generation_call(id: str) -> Call:
    """The request that reads one generation."""
    return Call("GET", "/generation", query={"id": id})


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
        query = query_params(
            date=date,
            api_key_hash=api_key_hash,
            user_id=user_id,
            workspace_id=workspace_id,
            group_by="workspace" if by_workspace else None,
        )
        answer = await self._caller.call(Call("GET", "/activity", query=query))
        return listing_of(read_rows(answer), ActivityRow)


class CreditsService:
    """The account's credits."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def get(self) -> Credits:
        """What was bought and what is used, in USD. Raises GatewayError."""
        return read_one(await self._caller.call(Call("GET", "/credits")), Credits)


class GenerationsService:
    """Single generations; every method raises GatewayError."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def get(self, id: str) -> Generation:
        """Request and usage metadata of one generation; any key may ask."""
        return read_one(await self._caller.call(generation_call(id)), Generation)

    async def content(self, id: str) -> GenerationContent:
        """What a generation read and wrote.

        NotFoundError also where its workspace does not log that.
        """
        call = Call("GET", "/generation/content", query={"id": id})
        return read_one(await self._caller.call(call), GenerationContent)

    async def give_feedback(self, request: FeedbackRequest) -> None:
        """Say what was wrong with a generation: one request, never repeated.

        The contract describes no answer: whatever a success says is not read.
        """
        body = validated(request, FeedbackRequest)
        await self._caller.call(Call("POST", "/generation/feedback", body=body))
