"""``gwtui generation``: one request by its id, and feedback on it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from gwtui.cli import exits
from gwtui.local.ledger import Ledger
from gwtui.resources.generations import COLUMNS
from headless_kit import Gwtui, site


@pytest.fixture
def generation() -> str:
    """A request that the gateway keeps, whenever it was founded."""
    return site().gateway.generation


def test_it_is_printed_in_every_form(gwtui: Gwtui, generation: str) -> None:
    words = ("generation", "get", generation)
    code, out, err = gwtui(*words)
    assert (code, err) == (exits.OK, "")
    assert out.startswith(f"Generation {generation}\n")
    assert "\nCost\n" in out
    assert gwtui.json(*words) == site().get("/generation", id=generation)
    code, out, _ = gwtui(*words, "--output", "ndjson")
    assert json.loads(out)["id"] == generation
    code, out, _ = gwtui(*words, "--output", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert [*row] == [column.id for column in COLUMNS]
    assert row["id"] == generation
    assert float(row["cost"]) >= 0


def test_one_that_nobody_knows_is_named(gwtui: Gwtui) -> None:
    code, out, err = gwtui("generation", "get", "gen-\x1b[31m7")
    assert (code, out) == (exits.FAILED, "")
    assert "There is no generation “gen-" in err
    assert "\x1b" not in err


def test_feedback_is_a_write_like_any_other(
    gwtui: Gwtui, generation: str, private_home: Path
) -> None:
    words = ("generation", "feedback", generation, "--set", "category=latency")
    plan = gwtui.json(*words, "--plan")
    assert {"field": "Generation", "before": None, "after": generation} in plan["changes"]
    code, _, err = gwtui(*words, "--set", "comment=slow today", "--yes")
    assert code == exits.OK, err
    ledger = Ledger(private_home / "state" / "gwtui" / "audit.jsonl")
    assert {one.action for one in ledger.entries()} == {"generation.feedback"}
    assert "slow today" not in ledger.path.read_text()
    code, _, err = gwtui("generation", "feedback", generation, "--yes")
    assert code == exits.USAGE
    assert "category" in err
