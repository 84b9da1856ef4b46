"""A change from the command line begins with what is unresolved of earlier ones."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gwtui.cli.changes.execute import report_unresolved
from gwtui.client.connection import Connection
from gwtui.domain.clock import Clock
from gwtui.local.ledger import Ledger, LedgerEntry
from gwtui.watch.hub import FeedHub

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
HERE = Connection("https://gateway.test")


@pytest.mark.parametrize(
    ("gateways", "told"),
    [
        ((), ""),
        (("https://other.test/api/v1",), ""),
        ((HERE.base_url,), "1 earlier change is unresolved"),
        ((HERE.base_url, HERE.base_url), "2 earlier changes are unresolved"),
    ],
)
async def test_only_what_concerns_this_gateway_is_told(
    gateways: tuple[str, ...], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = Ledger(tmp_path / "audit.jsonl")
    for number, gateway in enumerate(gateways):
        ledger.record(LedgerEntry(id=f"p{number}", outcome="intent", at=NOW, gateway=gateway))
        ledger.record(LedgerEntry(id=f"p{number}", outcome="unknown", at=NOW, message="lost"))
    client: Any = SimpleNamespace(connection=HERE)
    hub = FeedHub(client, Clock(now=lambda: NOW))
    hub.ledger = ledger
    session: Any = SimpleNamespace(hub=hub)
    await report_unresolved(session)
    await hub.close()
    said = capsys.readouterr()
    assert said.out == ""
    assert told in said.err
    assert bool(said.err) == bool(told)
