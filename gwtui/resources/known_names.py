"""Caches the names of list rows for shell completion."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.local.name_cache import IDENTIFIERS, MOST, cache_file, write_names
from gwtui.local.paths import Paths
from gwtui.resources.entries import ENTRIES
from gwtui.resources.registry import RESOURCES
from gwtui.watch.hub import Scope

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.crud.resource import ResourceSpec
    from gwtui.watch.hub import FeedHub

NAMED_LISTS = tuple(entry.id for entry in ENTRIES if entry.named)


def store_names(connection: Connection, spec: ResourceSpec[Any], rows: Sequence[Any]) -> None:
    """Cache the names of a complete list. Blocks briefly, never raises.

    Lists that the command line does not refer to by name are ignored.
    """
    if spec.id not in NAMED_LISTS or not connection.label:
        return
    called = spec.names(SYSTEM_CLOCK.now())
    known = [called(row) for row in rows[:MOST]]
    names = [name for item in known for name in item[1:]]
    identifiers = [item[0] for item in known]
    path = cache_file(Paths.of_user().cache, connection.label)
    write_names(path, {spec.id: names, f"{spec.id}{IDENTIFIERS}": identifiers})


def store_read_names(hub: FeedHub) -> None:
    """Cache the names of the lists that were read in full. Blocks briefly, never raises."""
    for entry in ENTRIES:
        # A resource whose declaration is not loaded has no rows to cache.
        if entry.id in NAMED_LISTS and entry.declaration.partition(":")[0] in sys.modules:
            spec = RESOURCES[entry.id]
            rows = spec.feed(hub, Scope()).state.value
            if rows is not None:
                store_names(hub.connection, spec, rows)
