"""A long list of workspaces reads the figures of the rows in view, and of all where it must."""

from __future__ import annotations

import asyncio

from gwtui.client.gateway import GatewayClient
from gwtui.contract.workspaces import CreateWorkspaceRequest
from gwtui.ui.app import GwtuiApp
from gwtui.watch.feeds.workspaces import WorkspaceRow, figures_feed
from harness import Harness, dashboard, harness, listing, until

COUNT = 26


async def _make_workspaces(place: Harness) -> None:
    async with place.connect() as connection, GatewayClient(connection) as client:
        requests = (
            CreateWorkspaceRequest(name=f"team {n:02}", slug=f"team-{n:02}") for n in range(COUNT)
        )
        await asyncio.gather(*map(client.workspaces.create, requests))


def _read(app: GwtuiApp) -> int:
    """Of how many single workspaces the figures were ever asked for."""
    return sum(feed.name.startswith("workspaces:figures:") for feed in app.hub.feeds)


def _row(app: GwtuiApp) -> WorkspaceRow:
    row = listing(app).table.selected
    assert isinstance(row, WorkspaceRow)
    return row


async def test_figures_follow_the_view() -> None:
    async with harness(content="empty") as place:
        await _make_workspaces(place)
        async with dashboard(place, start="workspaces", size=(80, 24)) as (app, pilot):
            await until(pilot, lambda: _row(app).figures is not None, "the figures of the first")
            table = listing(app).table
            assert table.total_count > COUNT
            assert 0 < _read(app) <= table.lines + 1 < COUNT
            await pilot.press("end")
            await until(pilot, lambda: _row(app).figures is not None, "the figures of the last")
            assert _read(app) <= min(COUNT + 1, 2 * (table.lines + 1))
            assert _row(app).figures.keys.total == 0  # type: ignore[union-attr]
            whole = figures_feed(app.hub, app.scope)
            assert not whole.watched
            listing(app).table.sort_by("keys", descending=True)
            await until(pilot, lambda: whole.state.value is not None, "every row's figures")
            assert len(whole.state.value or ()) == table.total_count
            for identity in table.identities:
                table.select(identity)
                assert _row(app).figures is not None
            listing(app).table.sort_by("name", descending=False)
            await until(pilot, lambda: not whole.watched, "the view alone")


async def test_a_short_list_reads_every_figure_at_once() -> None:
    async with (
        harness() as place,
        dashboard(place, start="workspaces", size=(80, 24)) as (app, pilot),
    ):
        await until(pilot, lambda: _row(app).figures is not None, "the figures")
        assert _read(app) == 0
