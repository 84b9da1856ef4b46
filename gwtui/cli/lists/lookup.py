"""From what a person calls something to the row that is meant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from gwtui.cli.exits import CommandError
from gwtui.cli.lists.reading import Readings
from gwtui.cli.resources import Parent
from gwtui.contract.workspaces import Workspace
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.lookup import Names, lookup, nearest
from gwtui.domain.safe_text import safe_line
from gwtui.watch.feeds.workspaces import workspaces_feed

T = TypeVar("T")

_SHOWN = 5
_NAME = 60


def find(rows: Iterable[T], wanted: str, noun: str, names: Names[T]) -> T:
    """The one row that is called so. Raises CommandError when there is none, or several.

    ``names`` gives the identity first, then what else a row goes by.
    """
    rows = tuple(rows)
    found = lookup(rows, wanted, names).rows
    if len(found) == 1:
        return found[0]
    called = safe_line(wanted, _NAME)
    if not found:
        near = ", ".join(safe_line(name, _NAME) for name in nearest(rows, wanted, names))
        meant = f"; did you mean {near}?" if near else ""
        raise CommandError(f"there is no {noun} {called!r} that this key may see{meant}")
    identities = [safe_line(names(row)[0] or "", _NAME) for row in found[:_SHOWN]]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    raise CommandError(
        f"{len(found)} {noun}s are called {called!r}; name one by its identifier: "
        f"{', '.join(identities)}{more}"
    )


def find_row(spec: ResourceSpec[T], rows: Iterable[T], wanted: str) -> T:
    """The row of a declared list that is called so. Raises CommandError."""
    return find(rows, wanted, spec.singular, spec.names(SYSTEM_CLOCK.now()))


async def find_workspace(readings: Readings, wanted: str) -> Workspace:
    """A workspace by its id, slug or name. Raises CommandError and GatewayError."""
    spaces = await readings.value(workspaces_feed(readings.hub, Scope()))
    return find(spaces, wanted, "workspace", lambda space: (space.id, space.slug, space.name))


async def find_parent(readings: Readings, kind: Parent, wanted: str) -> str:
    """The identity of what a list belongs to. Raises CommandError and GatewayError."""
    if kind == "model":
        return wanted
    if kind == "workspace":
        return (await find_workspace(readings, wanted)).id or ""
    if kind == "key":
        from gwtui.resources.keys.resource import KEYS  # noqa: PLC0415 - only where it is asked for

        return await _found(readings, KEYS, wanted)
    from gwtui.resources.guardrails.resource import GUARDRAILS  # noqa: PLC0415

    return await _found(readings, GUARDRAILS, wanted)


async def _found(readings: Readings, spec: ResourceSpec[T], wanted: str) -> str:
    rows = await readings.value(spec.feed(readings.hub, Scope()))
    return spec.identity(find_row(spec, rows, wanted))
