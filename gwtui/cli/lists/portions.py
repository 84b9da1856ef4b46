"""Printing a list while it is read, page by page, however long it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from typing import Any

from gwtui.cli import exits
from gwtui.cli.exits import CommandError
from gwtui.cli.lists.lookup import Portion
from gwtui.cli.lists.query import ListQuery
from gwtui.cli.lists.show import show_list
from gwtui.client.errors import GatewayError
from gwtui.domain.clock import Clock
from gwtui.domain.identity_set import IdentitySet
from gwtui.local.name_cache import MOST

FORMS = ("ndjson", "csv")
"""Forms of a list whose beginning does not depend on its end."""


class PortionPrinter:
    """Prints the rows of a list that match, as they come; keeps none but the first few.

    ``first`` are those few, for completion on the command line.
    """

    def __init__(self, asked: ListQuery, form: str, clock: Clock) -> None:
        self.first: list[Any] = []
        self._asked = asked
        self._form = form
        self._clock = clock
        self._met = IdentitySet()
        self._printed = 0
        # One thread, for each has a heap of its own.
        self._thread = ThreadPoolExecutor(1, "output")

    async def print_all(
        self,
        portions: AsyncGenerator[Portion[Any], None],
        complete: Callable[[Sequence[Any]], Sequence[Any]],
    ) -> None:
        """Print every portion, each row once, with what ``complete`` makes of it.

        A list that comes in one portion is printed in its usual order. Raises GatewayError where
        nothing was printed before it, CommandError where something was, and OutputLostError.
        """
        begun = False
        try:
            async with aclosing(portions):
                async for portion in portions:
                    rows = complete(self._new(portion.rows))
                    whole = portion.last and not begun
                    arrange = self._asked.apply if whole else self._asked.matching
                    await self._print(arrange(rows, self._clock.now()), further=begun)
                    begun = True
        except GatewayError as error:
            if not self._printed:
                raise
            raise self._broken_off(error) from None

    def _new(self, portion: Sequence[Any]) -> list[Any]:
        """The rows that no portion before had."""
        identity = self._asked.spec.identity
        new = [row for row in portion if self._met.add(identity(row))]
        self.first += new[: MOST - len(self.first)]
        return new

    async def _print(self, rows: Sequence[Any], *, further: bool) -> None:
        """In a thread: whoever reads may take their time, and the gateway is listened to."""
        if rows or not further:
            show = partial(show_list, rows, self._asked, self._form, self._clock.now())
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, partial(show, further=further))
            self._printed += len(rows)

    def _broken_off(self, error: GatewayError) -> CommandError:
        spec = self._asked.spec
        noun = spec.singular if self._printed == 1 else spec.plural or f"{spec.singular}s"
        return CommandError(
            f"{error.message}; the list broke off after {self._printed} {noun}", exits.INCOMPLETE
        )
