"""The filter at work: which rows match, found out in slices where that takes long."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Generic, TypeVar

from gwtui.crud.resource import Facets, RowFields
from gwtui.domain.filters import Query
from gwtui.ui.widgets.table.haystack import Haystacks

if TYPE_CHECKING:
    from gwtui.crud.resource import Column

T = TypeVar("T")


class Matcher(Generic[T]):
    """One query, and for each row whether it matches as far as that is known.

    A row not looked at yet counts as it did under the query before (``assumed``), so that a slow
    query narrows the list step by step instead of showing everything for a moment.
    """

    def __init__(
        self,
        query: Query,
        columns: Sequence[Column[T]],
        facets: Facets[T],
        haystacks: Haystacks[T],
        assumed: Matcher[T] | None = None,
    ) -> None:
        self._query = query
        self._columns = columns
        self._facets = facets
        self._haystacks = haystacks
        self._verdicts: dict[str, bool] = dict(assumed._verdicts) if assumed is not None else {}
        self._waiting: list[str] = []
        names = [*(column.id for column in columns), *facets]
        self.unknown_columns = query.unknown_columns(names)
        """Names in the query that are no column here: searched as plain text."""
        self._textual = bool(query.words or query.excluded or self.unknown_columns)

    @property
    def unfinished(self) -> bool:
        """Whether rows wait to be looked at."""
        return bool(self._waiting)

    def visible(self, order: Sequence[str]) -> list[str]:
        """Those of ``order`` that match."""
        verdicts = self._verdicts
        return [identity for identity in order if verdicts.get(identity, True)]

    def ask(self, order: Sequence[str]) -> None:
        """Have every row looked at again, the first of ``order`` first."""
        self._waiting = list(reversed(order))
        if len(self._verdicts) > 2 * len(order):
            self._verdicts = {i: self._verdicts[i] for i in order if i in self._verdicts}

    def work(self, items: Mapping[str, T], now: datetime, seconds: float) -> None:
        """Look at waiting rows for about ``seconds``, at least at one."""
        end = time.perf_counter() + seconds
        fields = RowFields(self._columns, self._facets, now)
        matches, verdicts, waiting = self._query.matches, self._verdicts, self._waiting
        while waiting:
            identity = waiting.pop()
            if (item := items.get(identity)) is not None:
                fields.item = item
                text = self._haystacks.text(identity, item, now) if self._textual else ""
                verdicts[identity] = matches(fields, text, now)
            if time.perf_counter() > end:
                return
