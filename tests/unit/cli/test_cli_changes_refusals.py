"""gwtui RESOURCE create, update, delete: plans, consent, refusals, answers that are lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gwtui.cli import exits
from gwtui.client.services import KeysService
from gwtui.contract.keys import CreatedKey, CreateKeyRequest
from gwtui.contract.workspaces import Workspace
from headless_kit import YES, Gwtui, Site, done, log


def test_a_plan_says_everything_and_sends_nothing(gwtui: Gwtui, state: Path) -> None:
    before = gwtui.json("keys", "list")
    plan = ("keys", "update", "backfill-2025", "--set", "limit=1", "--plan")
    code, out, _ = gwtui(*plan)
    assert code == exits.OK
    assert "Spending limit  $600.00 → $1.00" in out
    assert "new requests will be refused immediately" in out
    as_json = gwtui.json(*plan)
    assert as_json["changes"] == [
        {"field": "Spending limit", "before": "$600.00", "after": "$1.00"}
    ]
    assert as_json["requests"][0]["summary"] == {"limit": 1.0}
    assert [key["limit"] for key in gwtui.json("keys", "list")] == [key["limit"] for key in before]
    assert log(state) == []
    words = ("workspaces", "delete", "production")
    code, out, _ = gwtui(*words, "--plan")
    assert (code, "  ! " in out) == (exits.FAILED, True)
    assert log(state) == [], "nobody agreed"
    assert gwtui(*words, YES)[0] == exits.FAILED
    (tried,) = log(state)
    assert (tried.outcome, tried.action) == ("refused", "workspaces.delete")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("keys", "create", "--set", "limit=-1", "--set", "name=x"), "limit: must not be negative"),
        (("keys", "create", "--set", "limit=lots"), "limit: expected an amount in USD"),
        (("keys", "create"), "name: is required"),
        (("keys", "create", "--set", "name=x", "--set", "limit_reset=yearly"), "limit_reset: must"),
        (("keys", "create", "--set", "name=x", "--set", "expires_at=soon"), "expires_at: expected"),
        (
            ("keys", "create", "--set", "nam=x"),
            "unknown field 'nam'; did you mean 'name'?",
        ),
        (("keys", "create", "--set", "name"), "name: expected FIELD=VALUE"),
        (("keys", "create", "--set", "name=a", "--set", "name=b"), "name is given twice"),
        (("keys", "create", "--set", "external.api_key=x"), "external.api_key is a secret"),
        (("keys", "update", "x", "--set", "disabled=true"), "unknown field 'disabled'"),
        (("keys", "update", "x"), "give the fields to change"),
        (("workspaces", "create", "--set", "name=x", "--set", "slug=A B"), "slug: must be"),
        (("guardrails", "create", "--set", "name=x", "--set", "content_filters=a"), "JSON list"),
        (("workspaces", "update", "x", "--set", "io_logging_api_key_ids=1,b"), "whole numbers"),
    ],
)
def test_a_bad_value_names_its_field_and_nothing_is_tried(
    gwtui: Gwtui, state: Path, words: tuple[str, ...], says: str
) -> None:
    code, out, err = gwtui(*words, YES)
    assert (code, out) == (exits.USAGE, "")
    assert says in err
    assert not (state / "audit.jsonl").exists()


def test_without_a_terminal_and_without_yes_nothing_is_done(gwtui: Gwtui, state: Path) -> None:
    code, out, err = gwtui("keys", "create", "--set", "name=never")
    assert (code, out) == (exits.USAGE, "")
    assert "--yes" in err
    assert not state.exists() or log(state) == []


def test_a_critical_profile_wants_its_name(gwtui: Gwtui, state: Path, private_home: Path) -> None:
    words = on_critical(gwtui, private_home, "keys", "create", "--set", "name=named")
    for confirm in ((), ("--confirm", "other")):
        code, out, err = gwtui(*words, YES, *confirm)
        assert (code, out, "prod" in err) == (exits.USAGE, "", True)
        assert log(state) == []
    done(gwtui, *words, "--confirm", "prod")
    (entry,) = log(state)
    assert (entry.consent, entry.profile) == ("typed", "prod")


def on_critical(gwtui: Gwtui, home: Path, *words: str) -> tuple[str, ...]:
    """The words, on a profile that is marked critical."""
    folder = home / "config" / "gwtui"
    folder.mkdir(parents=True)
    where = gwtui.site.gateway.base_url
    (folder / "profiles.toml").write_text(
        f'[profiles.prod]\nbase_url = "{where}"\ncritical = true\n'
    )
    return (*words, "--profile", "prod")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("403:POST /keys x1", (exits.FAILED, "refused", "refused:")),
        (
            "reset-after:POST /keys x1",
            (exits.UNKNOWN, "unknown", "It may or may not"),
        ),
    ],
)
def test_a_refusal_and_a_lost_answer_have_codes_of_their_own(
    gwtui: Gwtui, place: Site, state: Path, fault: str, expected: tuple[int, str, str]
) -> None:
    code, outcome, says = expected
    words = ("keys", "create", "--set", f"name={outcome}", YES)
    place.faults.arm(fault)
    found, out, err = gwtui(*words)
    assert (found, out, says in err) == (code, "", True)
    assert log(state)[0].outcome == outcome
    place.faults.arm(fault)
    told = json.loads(gwtui(*words, "--output", "json")[1])
    assert (told["outcome"], told["requests"][0]["outcome"]) == (outcome, outcome)


def test_a_series_stops_at_the_first_request_that_fails(gwtui: Gwtui, place: Site) -> None:
    done(gwtui, "workspaces", "create", "--set", "name=Serial", "--set", "slug=serial")
    place.faults.arm("500:PUT /workspaces/{id}/budgets/{interval} x1")
    words = ("budgets", "set", "serial", "--set", "daily=1", "--set", "weekly=2")
    code, out, _ = gwtui(*words, "--output", "json", YES)
    assert code == exits.UNKNOWN
    told = json.loads(out)
    assert [one["outcome"] for one in told["requests"]] == ["unknown"]


def test_a_read_only_profile_and_an_ordinary_key_change_nothing(
    gwtui: Gwtui, place: Site, state: Path
) -> None:
    words = ("keys", "create", "--set", "name=no")
    code, out, err = gwtui(*words, YES, "--read-only")
    assert (code, out) == (exits.FAILED, "")
    assert "this profile is read-only" in err
    gwtui.commands.monkeypatch.setenv("GWTUI_BASE_URL", place.gateway.base_url)
    gwtui.commands.monkeypatch.setenv("GWTUI_TOKEN", place.gateway.ordinary)
    code, out, err = gwtui.commands(*words, YES)
    assert (code, out) == (exits.FAILED, "")
    assert "refused:" in err
    assert gwtui(*words, "--plan", "--read-only")[0] == exits.OK
    by_ordinary, by_profile = log(state)
    for tried in (by_ordinary, by_profile):
        assert (tried.outcome, tried.error, tried.status) == ("refused", "NotSentError", None)
        assert tried.title == "Create key “no”"
    assert "read-only" in (by_profile.message or "")
    assert "intent" not in (state / "audit.jsonl").read_text(), "nothing was about to be sent"


def test_a_workspace_that_came_without_an_id_cannot_be_changed(
    gwtui: Gwtui, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def garbled(_readings: Any, _wanted: str) -> Workspace:
        return Workspace.model_validate({"slug": "garbled"})

    monkeypatch.setattr("gwtui.cli.changes.change.find_workspace", garbled)
    code, out, err = gwtui("members", "add", "garbled", "somebody", "--yes")
    assert (code, out) == (exits.FAILED, "")
    assert "is not a usable identifier" in err


def test_a_new_key_without_its_value_is_told(gwtui: Gwtui, monkeypatch: pytest.MonkeyPatch) -> None:
    async def mute(_service: KeysService, _request: CreateKeyRequest) -> CreatedKey:
        return CreatedKey.model_validate({"data": {"hash": "h", "name": "mute"}})

    monkeypatch.setattr(KeysService, "create", mute)
    code, out, err = gwtui("keys", "create", "--set", "name=mute", YES)
    assert (code, out) == (exits.INCOMPLETE, "")
    assert "key “mute” was created without a value" in err
