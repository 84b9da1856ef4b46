"""What tests of changes without the dashboard look at."""

from __future__ import annotations

from pathlib import Path

from gwtui.cli import exits
from gwtui.local.ledger import Ledger, LedgerEntry
from headless_kit import Gwtui

YES = "--yes"


def log(state: Path) -> list[LedgerEntry]:
    return list(Ledger(state / "audit.jsonl").audit())


def done(gwtui: Gwtui, *words: str, stdin: str = "") -> str:
    """What a change that must be applied printed on stdout."""
    code, out, err = gwtui(*words, YES, stdin=stdin)
    assert code == exits.OK, err
    assert "done:" in err
    return out
