"""Copied links and curl commands lead back to their row."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from board_kit import Filled
from gwtui.cli.commands import DASHBOARD
from gwtui.cli.target import open_hub
from gwtui.client.connection import Connection
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.domain.lookup import lookup_path
from gwtui.resources.copying import Copyable, copyables, declared, row_path
from gwtui.resources.registry import PARENTS, PLACES, RESOURCES
from gwtui.ui.goto import parse_goto
from gwtui.watch.hub import FeedHub
from harness import Harness

EMPTY = {"alerts", "alert-rules", "alert-history", "rotations", "audit", "recovery"}
"""Lists without rows in a new world."""
NO_REQUEST = EMPTY | {"changes", "findings", "doctor"}
"""Lists of local data."""
BOTH = [resource for resource in RESOURCES if resource not in EMPTY]


@pytest.fixture(scope="module")
def demo() -> Any:
    harness = Harness()
    yield harness
    harness.close()


@asynccontextmanager
async def reading(demo: Harness, history: Path) -> AsyncIterator[tuple[Connection, FeedHub]]:
    async with demo.connect() as connection, open_hub(connection) as hub:
        hub.history_file = history
        yield connection, hub


async def _rows(
    hub: FeedHub, spec: ResourceSpec[Any], parent: str | None
) -> tuple[Sequence[Any], str | None]:
    """Rows of a list, and their parent row if there is one."""
    if spec.id not in PARENTS or parent is not None:
        state = await spec.feed(hub, Scope(parent=parent)).refresh()
        assert state.error is None, (spec.id, state.error)
        return state.value or (), parent
    above = RESOURCES[PARENTS[spec.id]]
    for row in (await _rows(hub, above, None))[0]:
        result = await _rows(hub, spec, above.identity(row))
        if result[0]:
            return result
    raise AssertionError(f"nobody has {spec.id}")


async def _led_to(hub: FeedHub, route: str, now: Any) -> tuple[str, Any]:
    """The list and row of a route, as the dashboard finds them."""
    place, _, path = route.partition("/")
    listed = RESOURCES[PARENTS.get(place, place)]
    result = lookup_path((await _rows(hub, listed, None))[0], path, listed.names(now))
    child = place if place in PARENTS else listed.opens
    if not result.rest:
        return listed.id, result.found
    assert child is not None
    below, above = RESOURCES[child], listed.identity(result.found)
    rows, _ = await _rows(hub, below, above)
    return child, lookup_path(rows, result.rest, below.names(now)).found


def _of(offered: Sequence[Copyable], kind: str) -> str | None:
    return next((item.text() for item in offered if item.kind == kind), None)


@pytest.mark.parametrize("resource", BOTH)
async def test_a_link_leads_to_its_row_and_curl_reads_it(
    resource: str, demo: Harness, filled: Filled
) -> None:
    spec = RESOURCES[resource]
    async with reading(demo, filled.file) as (connection, hub):
        rows, parent = await _rows(hub, spec, None)
        described, now = declared(spec, row_path(spec.id, parent)), hub.clock.now()
        for row in (*rows[:2], *rows[-1:]):
            offered = copyables(described, [row], now, connection)
            link, command = _of(offered, "link"), _of(offered, "curl")
            assert link is not None
            arguments = DASHBOARD.parse(shlex.split(link)[1:])
            goto = parse_goto(arguments.route)
            assert goto.route == arguments.route, goto.problem
            place, target = await _led_to(hub, goto.route, now)
            assert (place, spec.identity(target)) == (spec.id, spec.identity(row))
            assert command is not None or resource in NO_REQUEST or not spec.raw(row)
        if command is not None and shutil.which("curl"):
            body = json.loads(await _run(command, demo.token))
            assert demo.token not in f"{command}{link}"
            assert "data" in body, body
            if "{" in str(next(item.note for item in offered if item.kind == "curl")):
                assert spec.identity(row).partition("|")[0] in json.dumps(body)


async def _run(command: str, token: str) -> bytes:
    """The output of a shell for a pasted command."""
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", command),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "GWTUI_TOKEN": token},
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out


def test_every_place_is_looked_at() -> None:
    assert {*BOTH, *EMPTY} == set(RESOURCES)
    assert {*PLACES, *PARENTS} >= set(RESOURCES)
