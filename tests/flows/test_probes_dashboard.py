"""Probes from the dashboard on the real embedded gateway: told first, then sent and recorded."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from pydantic import SecretStr

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import CreateKeyRequest
from gwtui.local.journal import Journal
from gwtui.local.probe_key import ProbeAccess
from gwtui.local.profile_tables import ProbeSettings
from gwtui.ui.app import GwtuiApp
from gwtui.ui.board.selected_endpoint import EndpointPanel
from gwtui.ui.widgets.lines import OneLine
from gwtui.watch.history.model import PROBE_OK, PROBE_TTFT
from gwtui.watch.probes.status import ProbeStatus
from shell_kit import Site, notices, site, until


async def probe_key(place: Site) -> tuple[str, SecretStr]:
    """The hash of a key of its own, and its value."""
    async with place.connect() as connection, GatewayClient(connection) as client:
        made = await client.keys.create(CreateKeyRequest.model_validate({"name": "probes"}))
    assert made.data is not None
    assert made.data.hash is not None
    assert made.key is not None
    return made.data.hash, made.key


async def used(place: Site, hash: str) -> Decimal | None:
    async with place.connect() as connection, GatewayClient(connection) as client:
        return (await client.keys.get(hash)).usage


async def test_probes_are_told_of_sent_recorded_and_counted_to_the_cent(tmp_path: Path) -> None:
    async with site(speed=30) as place:
        hash, value = await probe_key(place)
        settings = ProbeSettings(every_minutes=600, max_usd_per_day=Decimal(1))
        app = GwtuiApp(
            place.connect,
            clock=place.clock,
            start="board",
            journal=Journal(tmp_path / "journal.jsonl"),
            data=tmp_path / "data",
            probing=ProbeAccess(settings, "work", given=value),
        )
        async with app.run_test(size=(160, 44), notifications=True) as pilot:

            def status() -> ProbeStatus | None:
                session = app.session
                return None if session is None or session.probes is None else session.probes.status

            await until(pilot, lambda: "a day at the most" in notices(app), "the announcement")
            said = status()
            assert said is not None

            def mute() -> int:
                found = status()
                return 0 if found is None else found.mute

            async def recorded() -> int:
                assert app.session is not None
                assert app.session.hub.archive is not None
                return await app.session.hub.archive.read(
                    lambda history: len(history.series("endpoint", None, PROBE_OK))
                )

            for _ in range(3000):
                if await recorded() + mute() >= said.endpoints:
                    break
                await pilot.pause(0.1)
            assert await recorded() + mute() == said.endpoints
            assert mute() == 4, "the endpoints of models that give vectors or decisions"
            await until(pilot, lambda: not status().spent.open, "every cost")  # type: ignore[union-attr]
            spent = status()
            assert spent is not None
            assert spent.spent.reported == await used(place, hash)
            assert spent.spent.reported > 0
            line = app.screen.query_one("#board-recording", OneLine)
            await until(pilot, lambda: "probes every 10 h" in line.text, "the line of the board")
            title = app.screen.query_one("#board-endpoint-title", OneLine)
            await until(pilot, lambda: " probe " in title.text, "the last probe of the selected")
            panel = app.screen.query_one(EndpointPanel)
            assert "probe" in {*panel.hidden, *(one.name.split()[0] for one in panel.shown)}
            assert app.session is not None
            assert app.session.hub.archive is not None
            reader = app.session.hub.archive.read
            first = (await reader(lambda h: h.series("endpoint", None, PROBE_TTFT)))[0]
            measured = await reader(lambda h: h.latest(first.key))
            assert measured.value is None or measured.value > 0
        content = b"".join(
            path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()
        )
        assert value.get_secret_value().encode() not in content
