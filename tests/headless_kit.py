"""Headless commands against a simulated gateway on a port."""

from __future__ import annotations

import atexit
import json
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from gwtui.cli import exits
from gwtui.embedded.faults import FaultInjector
from gwtui.local.ledger import Ledger, LedgerEntry
from login_kit import Commands, ServedGateway, served_gateway


@dataclass(frozen=True)
class FaultyGateway:
    """A served gateway with injectable failures."""

    gateway: ServedGateway
    faults: FaultInjector

    def get(self, path: str, token: str | None = None, **query: str) -> Any:
        """Return what the gateway itself reports."""
        answer = httpx.get(
            f"{self.gateway.base_url}{path}",
            params=query,
            headers={"Authorization": f"Bearer {token or self.gateway.management}"},
        )
        answer.raise_for_status()
        return answer.json()["data"]


@cache
def faulty_gateway() -> FaultyGateway:
    """One simulated gateway for all tests of a process, because creating it takes a second.

    Tests give their resources unique names; faults are cleared after each test.
    """
    stack = ExitStack()
    faults = FaultInjector()
    served = stack.enter_context(served_gateway("simulated", faults))
    atexit.register(stack.close)
    return FaultyGateway(served, faults)


@dataclass
class Gwtui(Commands):
    """Runs commands in this process against a gateway."""

    target: FaultyGateway

    def __call__(self, *words: str, stdin: str = "") -> tuple[int, str, str]:
        self.monkeypatch.setenv("GWTUI_BASE_URL", self.target.gateway.base_url)
        self.monkeypatch.setenv("GWTUI_TOKEN", self.target.gateway.management)
        return super().__call__(*words, stdin=stdin)

    def in_environment(self, *words: str) -> tuple[int, str, str]:
        """Run a command with the environment as it is, without address and key."""
        return super().__call__(*words)

    def json(self, *words: str) -> Any:
        """Run a command that must succeed; return its JSON output."""
        return json.loads(self.expect(exits.OK, *words, "--output", "json")[0])


YES = "--yes"


def log(state: Path) -> list[LedgerEntry]:
    """The audit log of the state directory."""
    return list(Ledger(state / "audit.jsonl").audit())


def apply_change(gwtui: Gwtui, *words: str, stdin: str = "") -> str:
    """Run a change that must be applied; return its stdout."""
    out, err = gwtui.expect(exits.OK, *words, YES, stdin=stdin)
    assert "done:" in err
    return out
