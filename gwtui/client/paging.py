"""Read a whole list through offset pages, while rows are added and deleted.

Offset paging has two faults. A row added in front moves a row that was read onto the next page:
rows are kept by identity, and the later page wins. A row deleted in front moves an unread row onto
a page that was read: each page therefore begins with the last row of the one before, and if that
row is unknown the pager steps back until a page begins with a known row. The result contains every
row that exists during the whole reading, once.

The next pages of a long list are requested ahead. Rows that exist all the time keep their order, so
a page that begins with a known row leaves no gap, whenever it was read.

A page with the same bytes as in the last reading is not parsed again. If ``keeps_rows``
(``request_log``) is False, the rows are only passed to the listeners, page by page.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar, cast
from weakref import WeakKeyDictionary, ref

from gwtui.client import request_log
from gwtui.client.answers import ModelT, Rows, read_rows
from gwtui.client.call import Call, Caller, Query
from gwtui.contract.response import ResponseModel

T = TypeVar("T")

OVERLAP = 1
"""Number of rows that a page shares with the one before; one is enough to notice a shift."""
MAX_REQUESTS = 10_000
"""Maximum number of requests for a list: a million rows in pages of 100."""
MAX_ROWS = 110_000
"""Maximum number of rows kept of a list; the largest known account has 100,000."""
MAX_BYTES = 96 * 1024 * 1024
"""Maximum size of all responses of a list."""
MAX_IDLE_PAGES = 3
"""Consecutive pages without a new row after which the gateway seems to ignore the offset."""
MOST_AHEAD = 3
"""Maximum number of pages requested ahead by all lists of a connection together."""
_MOST_KNOWN = 20_000
"""Maximum number of pages per connection that are remembered by digest."""
_REMEMBERED = 1_000
"""Number of passed-on rows whose identities are remembered, to recognize repeated rows."""


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """A list read to its end. ``items`` is empty if the rows were passed on page by page.

    ``total`` is the number of rows according to the last page, None if not reported. ``complete``
    is False if the reading stopped at a limit, or found fewer rows than ``total``. ``unreadable``
    is the number of rows that were not objects; ``items`` does not contain them.
    """

    items: tuple[T, ...]
    total: int | None
    complete: bool
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class _Page(Generic[ModelT]):
    """The rows of one response: identities and models. A row that is not an object has no model."""

    identities: Sequence[object]
    items: list[ModelT | None]
    total: int | None
    size: int = 0
    """Bytes of the response."""
    digest: bytes = b""
    """Digest of the response, to recognize the same page in the next reading; empty if unknown."""

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class _KnownPage:
    """A page from an earlier reading, with weak references to its rows."""

    digest: bytes
    identities: Sequence[object]
    items: Sequence[ref[ResponseModel]]
    total: int | None


@dataclass(slots=True, weakref_slot=True)
class _Reads:
    """State shared by the lists of a connection: pages by target, the limit on reading ahead."""

    pages: dict[str, _KnownPage] = field(default_factory=dict)
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_AHEAD))

    def remember(self, target: str, page: _Page[Any]) -> None:
        """Remember a page by its digest, unless a row is unreadable."""
        self.pages.pop(target, None)
        read = [ref(item) for item in page.items if item is not None]
        if page.digest and len(read) == len(page):
            self.pages[target] = _KnownPage(page.digest, page.identities, read, page.total)
        if len(self.pages) > _MOST_KNOWN:
            del self.pages[next(iter(self.pages))]


_reads: WeakKeyDictionary[Caller, _Reads] = WeakKeyDictionary()


@dataclass(slots=True)
class _Rows(Generic[ModelT]):
    """The rows read so far, by identity in order of arrival; None for rows that are not objects.

    If ``kept`` is False, only the identities of the last rows are stored.
    """

    kept: bool = True
    items: dict[object, ModelT | None] = field(default_factory=dict)
    unreadable: int = 0
    size: int = 0
    """Bytes of all responses so far."""

    @property
    def full(self) -> bool:
        """Whether the maximum number of rows or bytes is reached."""
        return len(self.items) >= MAX_ROWS or self.size >= MAX_BYTES

    def add(self, page: _Page[ModelT]) -> list[ModelT | None]:
        """Add a page; return its rows with a new identity, None for each that is not an object.

        A row that was read before is replaced if it has changed.
        """
        new: list[ModelT | None] = []
        for place, (identity, item) in enumerate(zip(page.identities, page.items, strict=True)):
            if identity not in self.items:
                new.append(item)
            elif item == self.items[identity]:
                page.items[place] = self.items[identity]
                continue
            self.items[identity] = item if self.kept else None
        self.unreadable += sum(item is None for item in new)
        self.size += page.size
        return new

    def forget(self) -> None:
        """If rows are not kept, drop the oldest identities above ``_REMEMBERED``."""
        while not self.kept and len(self.items) > _REMEMBERED:
            del self.items[next(iter(self.items))]

    def listing(self, total: int | None, *, complete: bool) -> Listing[ModelT]:
        request_log.record_list_gaps(self.unreadable, complete=complete)
        items = tuple(item for item in self.items.values() if item is not None)
        return Listing(items, total, complete, self.unreadable)


def _page_of(rows: Rows, model: type[ModelT], key: str) -> _Page[ModelT]:
    items = [model.model_validate(row) if isinstance(row, dict) else None for row in rows.rows]
    return _Page(tuple(identities(rows.rows, key)), items, rows.total)


class Pager(Generic[ModelT]):
    """Reads one paged list to its end.

    Sections 0, 1 and 7 of the extended contract have the rules of paging.

    ``call`` is the request without paging; ``key`` is the field that identifies a row; ``page`` is
    the number of rows of a full page.
    """

    def __init__(
        self,
        caller: Caller,
        call: Call,
        model: type[ModelT],
        key: str,
        *,
        page: int,
        sends_limit: bool = True,
    ) -> None:
        self._caller = caller
        self._call = call
        self._model = model
        self._key = key
        self._page = page
        self._sends_limit = sends_limit
        self._reads = _reads.setdefault(caller, _Reads())

    async def read_all(self) -> Listing[ModelT]:
        """Read all rows. Raises GatewayError if a page cannot be read.

        Rows that an earlier page already had are skipped. The other rows of each page are passed to
        the listeners of the current read (see ``request_log``).
        """
        collected: _Rows[ModelT] = _Rows(request_log.keeps_rows())
        offset, step, idle, pages = 0, OVERLAP, 0, 0
        total: int | None = None
        async with _Ahead(self._fetch, self._reads.turns) as ahead:
            for _ in range(MAX_REQUESTS):
                page = await ahead.get(offset)
                total = page.total
                # Without a known row in front, a row may be missing before it.
                if offset and not (page.identities and page.identities[0] in collected.items):
                    await ahead.drop()
                    pages = 0
                    step *= 2
                    offset = max(0, offset - step)
                    continue
                new = collected.add(page)
                self._reads.remember(self._at(offset).target(), page)
                if readable := [item for item in new if item is not None]:
                    await request_log.pass_to_listeners(readable, total)
                collected.forget()
                idle = 0 if new else idle + 1
                end = offset + len(page)
                if self._is_last(page, end):
                    return collected.listing(total, complete=total is None or end == total)
                if idle >= MAX_IDLE_PAGES or collected.full:
                    break
                stride = max(1, len(page) - OVERLAP)
                offset, step = offset + stride, OVERLAP
                pages += 1
                if not idle:
                    ahead.ask(self._likely(offset, stride, pages, total))
        return collected.listing(total, complete=False)

    def _likely(self, offset: int, stride: int, pages: int, total: int | None) -> range:
        """The offsets of the next pages that probably exist; ``pages`` have been read so far.

        With a total, these are at most ``pages`` up to the end of the list; without a total, a
        quarter of ``pages``, and those that existed in the last reading.
        """
        if total is not None:
            return range(offset, total - OVERLAP, stride)[:pages]
        there = pages // 4
        while (
            there <= MOST_AHEAD and self._at(offset + there * stride).target() in self._reads.pages
        ):
            there += 1
        return range(offset, offset + there * stride, stride)

    def _at(self, offset: int) -> Call:
        paging: Query = {"offset": offset}
        if self._sends_limit:
            paging["limit"] = self._page
        return replace(self._call, query={**self._call.query, **paging})

    async def _fetch(self, offset: int) -> _Page[ModelT]:
        call = self._at(offset)
        if not request_log.keeps_rows():  # what is not kept is not compared with either
            return _page_of(read_rows(await self._caller.call(call)), self._model, self._key)
        known = self._reads.pages.get(call.target())
        # Held until the response is there: it may say that they are still the same.
        items = [] if known is None else [item() for item in known.items]
        if known is None or None in items:
            known = None
        digest = known.digest if known else b""
        answer = await self._caller.call(replace(call, known=digest))
        if known is not None and answer.unchanged:
            same = cast("list[ModelT | None]", items)
            return _Page(known.identities, same, known.total, answer.size, known.digest)
        page = _page_of(read_rows(answer), self._model, self._key)
        return replace(page, size=answer.size, digest=answer.digest)

    def _is_last(self, page: _Page[ModelT], end: int) -> bool:
        """Whether a page is the last; ``end`` is the offset behind it.

        A total below ``end`` is ignored: only a page that is not full is then the last.
        """
        if page.total is not None and end <= page.total:
            return end == page.total or not page.items
        return len(page) != self._page


class _Ahead(Generic[ModelT]):
    """The pages of one list by offset, some of them requested in advance.

    All lists of a connection share ``turns``, which limits their concurrent requests. Leaving the
    context cancels pending requests.
    """

    def __init__(
        self,
        fetch: Callable[[int], Coroutine[Any, Any, _Page[ModelT]]],
        turns: asyncio.Semaphore,
    ) -> None:
        self._fetch = fetch
        self._turns = turns
        self._tasks: dict[int, asyncio.Task[_Page[ModelT]]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.drop()

    async def get(self, offset: int) -> _Page[ModelT]:
        """Return the page at an offset, requested in advance or now. Raises GatewayError."""
        task = self._tasks.pop(offset, None)
        if task is not None:
            return await task
        await self.drop()
        return await self._fetch(offset)

    def ask(self, offsets: Iterable[int]) -> None:
        """Request these pages in advance, as long as fewer than ``MOST_AHEAD`` are waiting."""
        for offset in offsets:
            if len(self._tasks) >= MOST_AHEAD:
                return
            if offset not in self._tasks:
                task = asyncio.create_task(self._fetch_by_turn(offset), name="page ahead")
                self._tasks[offset] = task

    async def _fetch_by_turn(self, offset: int) -> _Page[ModelT]:
        async with self._turns:
            return await self._fetch(offset)

    async def drop(self) -> None:
        """Cancel the pages that are still being read."""
        tasks = tuple(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def identities(rows: list[Any], key: str) -> Iterable[object]:
    """Yield the identity of each row: its field ``key``, or else its content.

    Equal rows without an identifier are numbered within the page, so they differ on the same page
    but count as one row on two pages.
    """
    repeated: Counter[str] = Counter()
    for row in rows:
        value = row.get(key) if isinstance(row, dict) else None
        if isinstance(value, str) and value:
            yield value
        else:
            content = repr(row)
            repeated[content] += 1
            yield (content, repeated[content])


def listing_of(rows: Rows, model: type[ModelT], key: str = "") -> Listing[ModelT]:
    """Convert a response that is not paged; "" means that no field identifies a row."""
    collected: _Rows[ModelT] = _Rows()
    collected.add(_page_of(rows, model, key))
    complete = rows.total is None or rows.total == len(rows.rows)
    return collected.listing(rows.total, complete=complete)
