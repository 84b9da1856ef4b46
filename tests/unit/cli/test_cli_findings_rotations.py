"""gwtui keys rotate, rotations and findings: over the executor of writes, between runs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from gwtui.cli import exits
from gwtui.local.ledger import Ledger
from headless_kit import YES, FaultyGateway, Gwtui, apply_change, log


def hashes_of(gwtui: Gwtui, name: str) -> list[str]:
    """The hashes of the keys with this name."""
    result = gwtui.json("keys", "list")
    return [row["hash"] for row in result if row["name"] == name]


def stage(gwtui: Gwtui, name: str) -> dict[str, str]:
    (rotation,) = [row for row in gwtui.json("rotations", "list") if row["old"]["name"] == name]
    return {**rotation, "hash": rotation["successor"]["hash"]}


def test_a_rotation_from_its_plan_to_the_deletion_of_the_old_key(
    gwtui: Gwtui, place: FaultyGateway, state: Path
) -> None:
    apply_change(gwtui, "guardrails", "create", "--set", "name=for-rot")
    apply_change(gwtui, "keys", "create", "--set", "name=rot", "--set", "limit=5")
    apply_change(gwtui, "guardrails", "assign", "for-rot", "--key", "rot")
    rotate = ("keys", "rotate", "rot", "--name", "rot-new")
    out, _ = gwtui.expect(exits.OK, *rotate, "--plan")
    assert "Not copied: its value" in out
    assert not (state / "rotations.json").exists()
    value, err = gwtui.expect(exits.OK, *rotate, "--unused-for", "10min", "--kept-for", "1h", YES)
    assert place.get("/key", token=value.strip())["limit"] == 5
    old, new = hashes_of(gwtui, "rot") + hashes_of(gwtui, "rot-new")
    assignments = place.get("/guardrails/assignments/keys")
    assert {row["guardrail_id"] for row in assignments if row["key_hash"] == old} == {
        row["guardrail_id"] for row in assignments if row["key_hash"] == new
    }
    stored = b"".join(path.read_bytes() for path in state.rglob("*") if path.is_file())
    assert value.strip().encode() not in stored
    assert (stage(gwtui, "rot")["stage"], stage(gwtui, "rot")["hash"]) == ("in use", new)
    # A second rotation of the key is refused, as is disabling a key that may be in use.
    assert gwtui(*rotate, YES)[0] == exits.FAILED
    code, _, err = gwtui("rotations", "next", "rot", YES)
    assert (code, "nothing to do" in err) == (exits.OK, True)
    assert place.get(f"/keys/{old}")["disabled"] is False
    apply_change(gwtui, "rotations", "next", "rot", "--force")
    assert place.get(f"/keys/{old}")["disabled"] is True
    assert stage(gwtui, "rot")["stage"] == "disabled"
    code, _, err = gwtui("rotations", "next", "rot", YES)
    assert (code, "enable it if missed" in err) == (exits.OK, True)
    apply_change(gwtui, "rotations", "next", old, "--force")
    assert stage(gwtui, "rot")["stage"] == "done"
    assert hashes_of(gwtui, "rot") == []
    applied = [(item.action, item.outcome) for item in log(state) if item.outcome == "applied"]
    assert sorted(applied[:4]) == [
        ("guardrails.assign_keys", "applied"),
        ("keys.create", "applied"),
        ("keys.delete", "applied"),
        ("keys.toggle", "applied"),
    ]


def test_a_lost_answer_is_settled_by_a_person_and_nothing_is_sent_again(
    gwtui: Gwtui, place: FaultyGateway, state: Path
) -> None:
    apply_change(gwtui, "keys", "create", "--set", "name=lost-rot", "--set", "limit=5")
    place.faults.arm("reset-after:POST /keys x1")
    assert gwtui("keys", "rotate", "lost-rot", "--name", "lost-new", YES)[0] == exits.UNKNOWN
    created = hashes_of(gwtui, "lost-new")
    assert len(created) == 1
    doubt = stage(gwtui, "lost-rot")
    assert (doubt["stage"], doubt["hash"]) == ("unresolved", None)
    code, _, err = gwtui("rotations", "next", "lost-rot", "--force", YES)
    assert (code, "resolve the change (:recovery)" in err) == (exits.FAILED, True)
    assert hashes_of(gwtui, "lost-new") == created
    ledger, now = Ledger(state / "audit.jsonl"), datetime.now(UTC)
    (lost,) = ledger.open_writes()
    ledger.resolve(lost, now, "it happened", created[0])
    settled = stage(gwtui, "lost-rot")
    assert (settled["stage"], settled["hash"]) == ("in use", created[0])
    assert "is not in use yet" in settled["message"]
    gwtui("rotations", "forget", "lost-rot")
    assert stage(gwtui, "lost-rot")["stage"] == "forgotten"


def test_a_refused_assignment_leaves_a_successor_that_is_not_bound(
    gwtui: Gwtui, place: FaultyGateway
) -> None:
    apply_change(gwtui, "guardrails", "create", "--set", "name=for-bare")
    apply_change(gwtui, "keys", "create", "--set", "name=bare", "--set", "limit=5")
    apply_change(gwtui, "guardrails", "assign", "for-bare", "--key", "bare")
    place.faults.arm("500:POST /guardrails/{id}/assignments/keys x1")
    code, value, err = gwtui("keys", "rotate", "bare", "--name", "bare-new", YES)
    assert code != exits.OK
    assert "Assign guardrail" in err
    assert place.get("/key", token=value.strip())["limit"] == 5  # shown once, so always printed
    assert stage(gwtui, "bare")["stage"] == "unbound"
    apply_change(gwtui, "rotations", "next", "bare")
    assert stage(gwtui, "bare")["stage"] == "in use"


def test_findings_in_every_form_and_what_cannot_be_read(gwtui: Gwtui, place: FaultyGateway) -> None:
    apply_change(gwtui, "keys", "create", "--set", "name=boundless")
    words = ("findings", "--filter", "name:boundless rule:no-limit")
    (finding,) = gwtui.json(*words)
    (identity,) = hashes_of(gwtui, "boundless")
    assert (finding["severity"], finding["identity"]) == ("warning", identity)
    assert finding["fix"] == f"gwtui keys update {identity} --set limit=USD --plan"
    assert gwtui(*words, "--fail-on", "warning")[0] == exits.FOUND
    assert gwtui(*words, "--fail-on", "critical")[0] == exits.OK
    code, out, _ = gwtui(*words, "--output", "csv", "--columns", "name,severity,fix")
    assert (code, out.splitlines()[0]) == (exits.OK, "name,severity,fix")
    # In read-only mode everything is shown, but nothing can be changed.
    (read_only,) = gwtui.json(*words, "--read-only")
    assert read_only == {**finding, "fix": None}
    assert gwtui("findings", "--columns", "nmae")[0] == exits.USAGE
    for fault in (
        "403:GET /workspaces/{id}/budgets",
        "403:GET /guardrails/assignments/keys",
        "403:GET /organization/members",
        "403:GET /activity",
    ):
        place.faults.arm(fault)
    code, out, _ = gwtui("findings", "--output", "json")
    unread = {row["rule"] for row in json.loads(out) if row["severity"] == "unknown"}
    assert unread >= {"unread-budgets", "unread-assignments", "unread-people", "unread-activity"}
    assert code == exits.INCOMPLETE
