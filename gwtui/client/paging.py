"""Reads a whole list through offset pages while rows are added and deleted.

Offset paging has two faults. A row added in front moves a row that was read onto the next page
again: rows are kept by identity, the later page wins. A row deleted in front moves a row that was
not read onto a page that was: each page therefore begins on the last row of the one before, and
where that row is unknown the pager steps back until a page begins on a known row. Every row that
exists during the whole reading is in the result, once.

The next pages of a long list are requested ahead, a few at a time: rows that exist all the time
keep their order, so that a page that begins on a known row leaves no gap, whenever it was read.

A page that comes again byte for byte is not parsed again.

With a ``request_log.page_handler`` each page's new rows are handed to it, and none is kept here.
"""

from __future__ import annotations

import asyncio
from array import array
from collections import Counter
from collections.abc import Callable, Coroutine, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar, cast
from weakref import WeakKeyDictionary, WeakValueDictionary, ref

from gwtui.client import request_log
from gwtui.client.answers import ModelT, Rows, read_rows
from gwtui.client.call import Call, Caller, Query
from gwtui.contract.response import ResponseModel

T = TypeVar("T")

OVERLAP = 1
"""Rows that a page shares with the one before: enough to notice a shift."""
MAX_REQUESTS = 10_000
"""Bound of one listing: a million rows in pages of 100."""
MAX_ROWS = 110_000
"""Rows of one listing that are kept: the largest account that is known has 100,000."""
MAX_BYTES = 96 * 1024 * 1024
"""Bytes of the answers that the kept rows of one listing are made of."""
MAX_SECONDS = 600.0
"""Time after which no further page of a listing is asked for."""
MAX_IDLE_PAGES = 3
"""Pages in a row without a new one before the list is taken for a service that ignores offset."""
MOST_AHEAD = 3
"""Pages that are asked for before their turn, by all lists of one connection together."""
_MOST_KNOWN = 20_000
"""Pages of one connection that are known by their bytes."""
_FEWEST = 1 << 10
"""Slots of an identity set at first; always a power of two."""
_FREE = 0

_held: WeakValueDictionary[tuple[type[ResponseModel], str], ResponseModel] = WeakValueDictionary()
"""The latest reading of each row that somebody still holds, by model and identifier."""


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """A whole list; without ``items`` where they were handed on page by page.

    ``total`` is what the service said last, None when it does not say. ``complete`` is False when
    the reading was bounded or ended before that total. ``unreadable`` counts the rows that were
    not objects and are left out.
    """

    items: tuple[T, ...]
    total: int | None
    complete: bool
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class _Page(Generic[ModelT]):
    """One answer: each row's identity, and its model or None where it is not an object."""

    identities: Sequence[object]
    items: Sequence[ModelT | None]
    total: int | None
    size: int = 0
    """Bytes of the answer."""

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class _KnownPage:
    """A page that was read before, for as long as somebody holds its rows."""

    digest: bytes
    identities: Sequence[object]
    items: Sequence[ref[ResponseModel]]
    total: int | None


@dataclass(slots=True, weakref_slot=True)
class _Reads:
    """State shared by the lists of a connection: known pages by target, pages under way ahead."""

    pages: dict[str, _KnownPage] = field(default_factory=dict)
    ahead: int = 0

    def remember(self, target: str, page: _KnownPage) -> None:
        self.pages.pop(target, None)
        self.pages[target] = page
        if len(self.pages) > _MOST_KNOWN:
            del self.pages[next(iter(self.pages))]


_reads: WeakKeyDictionary[Caller, _Reads] = WeakKeyDictionary()


@dataclass(slots=True)
class _Collected(Generic[ModelT]):
    """Rows read so far, by identity, in the order they were met."""

    items: dict[object, ModelT] = field(default_factory=dict)
    unreadable: set[object] = field(default_factory=set)
    size: int = 0
    """Bytes of the answers."""

    def __len__(self) -> int:
        return len(self.items) + len(self.unreadable)

    @property
    def full(self) -> bool:
        """Whether no more rows are kept."""
        return len(self) >= MAX_ROWS or self.size >= MAX_BYTES

    def knows(self, identity: object) -> bool:
        return identity in self.items or identity in self.unreadable

    async def add(self, page: _Page[ModelT]) -> bool:
        """Take a page in; whether it brought anything new."""
        return self.keep(page)

    def keep(self, page: _Page[ModelT]) -> bool:
        """Take a page in without reporting it."""
        before = len(self)
        self.size += page.size
        for identity, item in zip(page.identities, page.items, strict=True):
            if item is None:
                self.unreadable.add(identity)
            else:
                self.items[identity] = item
        return len(self) > before

    def report(self, total: int | None) -> None:
        """Report the rows so far to the listeners of the reading."""
        request_log.part_read(self.items.values(), total)

    def listing(self, total: int | None, *, complete: bool) -> Listing[ModelT]:
        request_log.list_read(len(self.unreadable), complete=complete)
        return Listing(tuple(self.items.values()), total, complete, len(self.unreadable))


class _HandedOn(Generic[ModelT]):
    """Rows that were handed on as they came: only their identities are remembered.

    Of a row that comes again the first reading counts: it is gone already.
    """

    full = False

    def __init__(self, take: request_log.PageHandler) -> None:
        self._take = take
        self._met = IdentitySet()
        self._unreadable = 0

    def knows(self, identity: object) -> bool:
        return identity in self._met

    async def add(self, page: _Page[ModelT]) -> bool:
        """Hand on what is new of a page; whether there is anything."""
        new: list[ModelT] = []
        before = len(self._met)
        for identity, item in zip(page.identities, page.items, strict=True):
            if not self._met.add(identity):
                continue
            if item is None:
                self._unreadable += 1
            else:
                new.append(item)
        if new:
            await self._take(new)
        return len(self._met) > before

    def report(self, _total: int | None) -> None:
        """Report nothing: the rows were handed on as they came."""

    def listing(self, total: int | None, *, complete: bool) -> Listing[ModelT]:
        request_log.list_read(self._unreadable, complete=complete)
        return Listing((), total, complete, self._unreadable)


_Rows = _Collected[ModelT] | _HandedOn[ModelT]


def _page_of(rows: Rows, model: type[ModelT], key: str, *, held: bool = True) -> _Page[ModelT]:
    """One page; with ``held``, equal models that are still referenced elsewhere are reused."""
    names = tuple(identities(rows.rows, key))
    read = _read_row if held else _read_anew
    items = tuple(
        read(model, name, row) if isinstance(row, dict) else None
        for name, row in zip(names, rows.rows, strict=True)
    )
    return _Page(names, items, rows.total)


def _read_anew(model: type[ModelT], _identity: object, row: dict[str, Any]) -> ModelT:
    return model.model_validate(row)


def _read_row(model: type[ModelT], identity: object, row: dict[str, Any]) -> ModelT:
    """The row as a model; the one that is held already where the answer is the same.

    Several lists show the same rows and read them again and again, and few of them change: each
    copy of a large account would cost tens of megabytes. Models of answers are never changed.
    """
    if not isinstance(identity, str):
        return model.model_validate(row)
    held = _held.get((model, identity))
    if held is None or not held.came_as(row):
        held = _held[model, identity] = model.model_validate(row)
    return cast("ModelT", held)


class Pager(Generic[ModelT]):
    """Reads one paged list to its end. Paging rules: extended contract sections 0, 1 and 7.

    ``call`` is the list's own, without paging; ``key`` names the field that identifies a row.
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

    async def everything(self) -> Listing[ModelT]:
        """Every row, once. Raises GatewayError when any page cannot be read.

        The rows so far are reported (``request_log.part_read``), or handed on page by page
        (``request_log.page_handler``).
        """
        take = request_log.page_handler()
        collected: _Rows[ModelT] = _Collected() if take is None else _HandedOn(take)
        offset, step, idle, pages = 0, OVERLAP, 0, 0
        total: int | None = None
        time = asyncio.get_running_loop().time
        started = time()
        async with _Ahead(self._fetch, self._reads) as ahead:
            for _ in range(MAX_REQUESTS):
                page = await ahead.get(offset)
                total = page.total
                if not self._joins(collected, page, offset):
                    await ahead.drop()
                    pages = 0
                    step *= 2
                    offset = max(0, offset - step)
                    continue
                idle = 0 if await collected.add(page) else idle + 1
                end = offset + len(page)
                if self._is_last(page, end):
                    return collected.listing(total, complete=total is None or end == total)
                if idle >= MAX_IDLE_PAGES or collected.full or time() - started > MAX_SECONDS:
                    break
                collected.report(total)
                stride = max(1, len(page) - OVERLAP)
                offset, step = offset + stride, OVERLAP
                pages += 1
                if not idle:
                    ahead.ask(self._likely(offset, stride, pages, total))
        return collected.listing(total, complete=False)

    def _likely(self, offset: int, stride: int, pages: int, total: int | None) -> range:
        """Offsets of the next pages that probably exist.

        Without a total, at most a quarter of the pages read so far is requested ahead in vain;
        pages that existed the last time are likely to exist again.
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
        if request_log.page_handler() is not None:  # what is not kept is not compared with either
            rows = read_rows(await self._caller.call(call))
            return _page_of(rows, self._model, self._key, held=False)
        target = call.target()
        known = self._reads.pages.get(target)
        # Held until the answer is there: it may say that they are still the same.
        items = [] if known is None else [one() for one in known.items]
        if known is None or None in items:
            known = None
        digest = known.digest if known else b""
        answer = await self._caller.call(replace(call, known=digest))
        if known is not None and answer.unchanged:
            return _Page(known.identities, cast("list[ModelT]", items), known.total, answer.size)
        page = replace(_page_of(read_rows(answer), self._model, self._key), size=answer.size)
        read: list[ref[ResponseModel]] = [ref(one) for one in page.items if one is not None]
        if answer.digest and len(read) == len(page):
            known = _KnownPage(answer.digest, page.identities, read, page.total)
            self._reads.remember(target, known)
        return page

    def _joins(self, collected: _Rows[ModelT], page: _Page[ModelT], offset: int) -> bool:
        """Whether a page continues what is known, so that no row can be between the two."""
        if offset == 0:
            return True
        return bool(page.identities) and collected.knows(page.identities[0])

    def _is_last(self, page: _Page[ModelT], end: int) -> bool:
        """Whether this page is the last; a total smaller than the rows so far is ignored."""
        if page.total is not None and end <= page.total:
            return end == page.total or not page.items
        return len(page) != self._page


class _Ahead(Generic[ModelT]):
    """Pages of one list, by offset, some of them requested ahead.

    Leaving the context cancels the requests that are under way.
    """

    def __init__(
        self, fetch: Callable[[int], Coroutine[Any, Any, _Page[ModelT]]], reads: _Reads
    ) -> None:
        self._fetch = fetch
        self._reads = reads
        self._tasks: dict[int, asyncio.Task[_Page[ModelT]]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.drop()

    async def get(self, offset: int) -> _Page[ModelT]:
        """The page that begins here. Raises GatewayError."""
        for passed in [one for one in self._tasks if one < offset]:
            self._tasks.pop(passed).cancel()
        task = self._tasks.pop(offset, None)
        return await (self._fetch(offset) if task is None else task)

    def ask(self, offsets: Iterable[int]) -> None:
        """Ask for these pages, as far as the connection's share of pages ahead allows.

        Those that came and wait for their turn count, too: a reader may be slow.
        """
        for offset in offsets:
            if offset in self._tasks:
                continue
            if max(self._reads.ahead, len(self._tasks)) >= MOST_AHEAD:
                return
            self._reads.ahead += 1
            task = asyncio.create_task(self._fetch(offset), name="page ahead")
            task.add_done_callback(self._landed)
            self._tasks[offset] = task

    async def drop(self) -> None:
        """End what is under way: it is not needed any more."""
        tasks = tuple(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _landed(self, task: asyncio.Task[_Page[ModelT]]) -> None:
        self._reads.ahead -= 1
        if not task.cancelled():
            task.exception()  # it concerns only who waits for that page


def identities(rows: list[Any], key: str) -> Iterable[object]:
    """The identity of each row: its identifier, else its content.

    Equal rows without an identifier differ by their number on the page; those on two pages count
    as one.
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
    """A list that came in one answer; without a ``key`` its rows have no identifier."""
    collected: _Collected[ModelT] = _Collected()
    collected.keep(_page_of(rows, model, key))
    complete = rows.total is None or rows.total == len(rows.rows)
    return collected.listing(rows.total, complete=complete)


class IdentitySet:
    """Identities that were met, by their hashes of 64 bits: 16 to 32 bytes each.

    Two of a million are taken for one with a chance of one in 37 million. A set of the identities
    themselves would hold 200 bytes each.
    """

    def __init__(self) -> None:
        self._places = array("q", bytes(8 * _FEWEST))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, identity: Hashable) -> bool:
        return self._places[self._place_of(_number(identity))] != _FREE

    def add(self, identity: Hashable) -> bool:
        """Note it; whether it is new."""
        number = _number(identity)
        place = self._place_of(number)
        if self._places[place] != _FREE:
            return False
        self._places[place] = number
        self._count += 1
        if 2 * self._count > len(self._places):
            self._grow()
        return True

    def _place_of(self, number: int) -> int:
        """Where it is, else where it belongs."""
        places, last = self._places, len(self._places) - 1
        place = number & last
        while places[place] != number and places[place] != _FREE:
            place = (place + 1) & last
        return place

    def _grow(self) -> None:
        former = self._places
        self._places = array("q", bytes(16 * len(former)))
        for number in former:
            if number != _FREE:
                self._places[self._place_of(number)] = number


def _number(identity: Hashable) -> int:
    return hash(identity) or 1
