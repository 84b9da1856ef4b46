"""gwtui RESOURCE create, update, delete and so on: requests, plans, refusals, confirmations."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from gwtui.cli import exits
from gwtui.cli.changes.execute import report_unresolved
from gwtui.cli.main import main
from gwtui.client.connection import Connection
from gwtui.client.services import KeysService
from gwtui.contract.keys import CreatedKey, CreateKeyRequest
from gwtui.domain.clock import Clock
from gwtui.local.ledger import Ledger, LedgerEntry
from gwtui.watch.hub import FeedHub
from headless_kit import YES, FaultyGateway, Gwtui, apply_change, log

# Keys


def test_a_new_key_goes_to_stdout_alone_and_works(
    gwtui: Gwtui, place: FaultyGateway, state: Path
) -> None:
    words = ("keys", "create", "--set", "name=ci", "--set", "limit=$1,000.50")
    out = apply_change(
        gwtui, *words, "--set", "limit_reset=monthly", "--set", "expires_at=in 30 days"
    )
    assert len(out.splitlines()) == 1
    key = place.get("/key", token=out.strip())
    assert (key["limit"], key["limit_reset"]) == (1000.5, "monthly")
    assert key["expires_at"]
    assert Ledger(state / "audit.jsonl").open_writes() == ()
    (entry,) = log(state)
    assert (entry.action, entry.outcome, entry.consent) == (
        "keys.create",
        "applied",
        "command line",
    )
    assert entry.key.startswith("gw-mgmt")


def test_a_new_key_as_json_has_its_value_and_its_hash(gwtui: Gwtui, place: FaultyGateway) -> None:
    document = json.loads(
        apply_change(gwtui, "keys", "create", "--set", "name=js", "--output", "json")
    )
    assert document["outcome"] == "applied"
    (request,) = document["requests"]
    assert request["answer"]["data"]["hash"] == request["identity"]
    assert place.get("/key", token=document["key"])["label"] == request["answer"]["data"]["label"]


class _Full(io.StringIO):
    def flush(self) -> None:
        raise OSError(28, "No space left on device")


def lost(gwtui: Gwtui, place: FaultyGateway, name: str) -> str:
    """Create a key whose value could not be written; return the output."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", _Full())
        patch.setenv("GWTUI_TOKEN", place.gateway.management)
        patch.setenv("GWTUI_BASE_URL", place.gateway.base_url)
        words = ["keys", "create", "--set", f"name={name}", "--set", "limit=7", YES]
        assert main(words) == exits.INCOMPLETE
    return gwtui.capsys.readouterr().err


@pytest.fixture
def another_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each command as a separate program, as in a shell."""
    monkeypatch.setattr("gwtui.local.ledger.may_run", lambda _process: False)


@pytest.mark.usefixtures("another_program")
def test_a_new_key_that_nobody_could_read_is_acknowledged_or_created_again(
    gwtui: Gwtui, place: FaultyGateway
) -> None:
    err = lost(gwtui, place, "lost")
    assert "No space left on device" in err
    assert "gwtui recovery recreate" in err
    before = gwtui.json("keys", "get", "lost")
    (open_write,) = gwtui.json("recovery", "list")
    assert (open_write["identity"], open_write["outcome"]) == (before["hash"], "applied")
    assert "cannot be undone" in gwtui("recovery", "recreate", "lost", "--plan")[1]
    out = apply_change(gwtui, "recovery", "recreate", "lost")
    assert place.get("/key", token=out.strip())["limit"] == 7
    assert gwtui.json("keys", "get", "lost")["hash"] != before["hash"], "the old key still exists"
    assert gwtui("recovery", "recreate", "lost", YES)[0] == exits.FAILED
    lost(gwtui, place, "kept")
    code, out, err = gwtui("recovery", "acknowledge", "kept")
    assert (code, out, "is stored" in err) == (exits.OK, "", True)
    assert gwtui.json("recovery", "list") == []


@pytest.mark.usefixtures("another_program")
def test_a_lost_key_that_was_deleted_meanwhile_is_not_offered_any_more(
    gwtui: Gwtui, place: FaultyGateway
) -> None:
    lost(gwtui, place, "here")
    apply_change(gwtui, "keys", "delete", "here")
    assert gwtui.json("recovery", "list") == []
    lost(gwtui, place, "elsewhere")
    identity = gwtui.json("keys", "get", "elsewhere")["hash"]
    httpx.delete(
        f"{place.gateway.base_url}/keys/{identity}",
        headers={"Authorization": f"Bearer {place.gateway.management}"},
    ).raise_for_status()
    code, _, err = gwtui("recovery", "recreate", "elsewhere", YES)
    assert (code, "the key is gone" in err) == (exits.FAILED, True)
    assert gwtui.json("recovery", "list") == []


# The other resources


def test_a_workspace_with_budgets_and_members(gwtui: Gwtui, place: FaultyGateway) -> None:
    workspace_id = apply_change(
        gwtui, "workspaces", "create", "--set", "name=Lab", "--set", "slug=lab"
    ).strip()
    apply_change(gwtui, "workspaces", "update", "lab", "--set", "io_logging_sampling_rate=25%")
    assert place.get(f"/workspaces/{workspace_id}")["io_logging_sampling_rate"] == 0.25

    apply_change(gwtui, "budgets", "set", "lab", "--set", "daily=5", "--set", "monthly=100")
    assert {budget["limit_usd"] for budget in gwtui.json("budgets", "list", "Lab")} == {5, 100}
    _, err = gwtui.expect(exits.FAILED, "budgets", "set", "lab", "--set", "daily=500", YES)
    assert "must be less than the monthly budget" in err
    code, _, err = gwtui("budgets", "remove", "lab", "hourly", YES)
    assert (code, "invalid choice: 'hourly'" in err) == (exits.USAGE, True)
    apply_change(gwtui, "budgets", "remove", "lab", "daily", "monthly")
    assert gwtui.json("budgets", "list", "lab") == []

    people = gwtui.json("organization", "list")
    first, second = people[0], people[1]
    apply_change(gwtui, "members", "add", "lab", first["email"], second["id"])
    code, _, err = gwtui("members", "add", "lab", second["id"], YES)
    assert (code, "already members" in err) == (exits.OK, True)
    apply_change(gwtui, "members", "remove", "lab", second["email"])
    apply_change(gwtui, "members", "add", "lab", first["id"], second["id"])
    assert len(gwtui.json("members", "list", "lab")) == 2, "existing members are skipped"
    apply_change(gwtui, "members", "remove", "lab", second["email"])
    assert second["id"] not in {
        member["user_id"] for member in gwtui.json("members", "list", "lab")
    }

    apply_change(gwtui, "workspaces", "delete", "lab")
    assert gwtui("workspaces", "get", "lab")[0] == exits.FAILED


def test_a_workspace_in_use_and_the_default_one_are_not_deleted(gwtui: Gwtui) -> None:
    code, out, err = gwtui("workspaces", "delete", "production", YES)
    assert (code, out) == (exits.FAILED, "")
    assert "Move, disable or delete them first" in err
    _, err = gwtui.expect(exits.FAILED, "workspaces", "delete", "default", YES)
    assert "--confirm-default default" in err
    words = ("workspaces", "delete", "default", "--confirm-default", "default", "--plan")
    assert "--confirm-default" not in gwtui(*words)[1]


def test_a_guardrail_with_assignments(gwtui: Gwtui, place: FaultyGateway) -> None:
    lists = ("--set", "allowed_models=a/b, c/d", "--set", "limit_usd=9")
    pattern = '--set=content_filters=[{"pattern": "gw-[0-9]+", "action": "redact", "label": "[K]"}]'
    guardrail_id = apply_change(
        gwtui, "guardrails", "create", "--set", "name=Narrow", *lists, pattern
    ).strip()
    stored = place.get(f"/guardrails/{guardrail_id}")
    assert stored["allowed_models"] == ["a/b", "c/d"]
    assert stored["content_filters"][0]["label"] == "[K]"

    apply_change(
        gwtui, "guardrails", "update", "Narrow", "--set", "name=Wide", "--unset", "allowed_models"
    )
    assert place.get(f"/guardrails/{guardrail_id}")["allowed_models"] is None

    person = gwtui.json("organization", "list")[0]
    holders = ("--key", "backfill-2025", "--member", person["email"])
    out = apply_change(gwtui, "guardrails", "assign", "Wide", *holders, "--output", "json")
    assert [request["outcome"] for request in json.loads(out)["requests"]] == ["applied", "applied"]
    assert len(gwtui.json("assignments", "list", "--guardrail", "Wide")) == 2
    code, _, err = gwtui("guardrails", "assign", "Wide", *holders, YES)
    assert (code, "already" in err) == (exits.OK, True)
    apply_change(gwtui, "guardrails", "unassign", "Wide", *holders)
    assert gwtui.json("assignments", "list", "--guardrail", guardrail_id) == []
    assert gwtui("guardrails", "assign", "Wide", YES)[0] == exits.USAGE
    apply_change(gwtui, "guardrails", "delete", "Wide")


def test_a_guardrail_of_people_whose_names_cannot_be_read(
    gwtui: Gwtui, place: FaultyGateway
) -> None:
    """Members are shown by id then."""
    person = gwtui.json("organization", "list")[0]
    apply_change(gwtui, "guardrails", "create", "--set", "name=Nameless")
    apply_change(gwtui, "guardrails", "assign", "Nameless", "--member", person["email"])
    place.faults.arm("403:GET /organization/members")
    out, _ = gwtui.expect(exits.OK, "guardrails", "delete", "Nameless", "--plan")
    assert f"1 member: {person['id']}." in out
    apply_change(gwtui, "guardrails", "delete", "Nameless")


def test_a_default_guardrail_comes_to_exist_with_its_update(
    gwtui: Gwtui, place: FaultyGateway
) -> None:
    workspace_id = apply_change(
        gwtui, "workspaces", "create", "--set", "name=Bare", "--set", "slug=bare"
    ).strip()
    identity = place.get(f"/workspaces/{workspace_id}")["default_guardrail_id"]
    code, _, err = gwtui("guardrails", "delete", identity, YES)
    assert (code, "is not set up" in err) == (exits.FAILED, True)
    apply_change(gwtui, "guardrails", "update", identity, "--set", "limit_usd=3")
    assert place.get(f"/guardrails/{identity}")["limit_usd"] == 3


def test_a_provider_key_comes_on_stdin(gwtui: Gwtui, place: FaultyGateway) -> None:
    words = ("byok", "create", "--set", "provider=northwind", "--set", "name=own")
    credential_id = apply_change(gwtui, *words, stdin="sk-sentinel-one\n").strip()
    assert place.get(f"/byok/{credential_id}")["name"] == "own"
    before = place.get(f"/byok/{credential_id}")["label"]
    apply_change(gwtui, "byok", "replace-key", "own", stdin="sk-other-sentinel")
    assert place.get(f"/byok/{credential_id}")["label"] != before
    apply_change(gwtui, "byok", "update", "own", "--set", "is_fallback=yes")
    apply_change(gwtui, "byok", "disable", "own")
    assert place.get(f"/byok/{credential_id}")["disabled"] is True
    apply_change(gwtui, "byok", "enable", credential_id)
    apply_change(gwtui, "byok", "delete", "own")
    code, _, err = gwtui(*words, YES, stdin="")
    assert (code, "key: stdin is empty" in err) == (exits.USAGE, True)
    _, err = gwtui.expect(exits.USAGE, *words, "--set", "key=sk-sentinel", YES, stdin="x")
    assert "sentinel" not in err


def test_a_provider_that_the_gateway_does_not_list_is_a_warning(gwtui: Gwtui, state: Path) -> None:
    words = ("byok", "create", "--set", "provider=nortwhind", "--set", "name=mistyped")
    warning = "warning: The gateway lists no provider 'nortwhind'; did you mean 'northwind'?"
    code, out, _ = gwtui(*words, "--plan", stdin="sk-x")
    assert (code, warning in out) == (exits.OK, True)
    assert warning in gwtui(*words, YES, stdin="sk-x")[2]
    assert (state / "audit.jsonl").exists()


def test_providers_that_cannot_be_read_stand_in_nobody_s_way(
    gwtui: Gwtui, place: FaultyGateway
) -> None:
    place.faults.arm("403:GET /providers")
    words = ("byok", "create", "--set", "provider=nortwhind", "--plan")
    code, out, _ = gwtui(*words, stdin="sk-x")
    assert (code, "warning" in out) == (exits.OK, False)


def test_a_model_that_the_gateway_does_not_list_is_a_warning(gwtui: Gwtui) -> None:
    words = ("guardrails", "create", "--set", "name=Narrow", "--plan", "--set")
    out = gwtui.expect(exits.OK, *words, "allowed_models=ampersand/chorus-clone,a/b")[0]
    assert "warning: The gateway lists no model “a/b”." in out
    out = gwtui.expect(exits.OK, *words, "allowed_models=ampersand/chorus-clone")[0]
    assert "warning" not in out


# Plans and refusals -------------------------------------------------------------------------------


def test_a_plan_says_everything_and_sends_nothing(gwtui: Gwtui, state: Path) -> None:
    before = gwtui.json("keys", "list")
    plan = ("keys", "update", "backfill-2025", "--set", "limit=1", "--plan")
    out, _ = gwtui.expect(exits.OK, *plan)
    assert "Spending limit  $600.00 → $1.00" in out
    assert "so new requests will be refused" in out
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
    assert log(state) == [], "a plan without confirmation is not logged"
    assert gwtui(*words, YES)[0] == exits.FAILED
    (entry,) = log(state)
    assert (entry.outcome, entry.action) == ("refused", "workspaces.delete")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("keys", "create", "--set", "limit=-1", "--set", "name=x"), "limit: must not be negative"),
        (
            ("keys", "create", "--set", "limit=lots"),
            "limit: expected a number in USD, such as 12.5",
        ),
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


def test_without_a_terminal_a_change_needs_yes(gwtui: Gwtui, state: Path) -> None:
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
    apply_change(gwtui, *words, "--confirm", "prod")
    (entry,) = log(state)
    assert (entry.consent, entry.profile) == ("typed", "prod")


def on_critical(gwtui: Gwtui, home: Path, *words: str) -> tuple[str, ...]:
    """Add the options of a profile that is marked critical."""
    folder = home / "config" / "gwtui"
    folder.mkdir(parents=True)
    where = gwtui.target.gateway.base_url
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
    gwtui: Gwtui, place: FaultyGateway, state: Path, fault: str, expected: tuple[int, str, str]
) -> None:
    code, outcome, says = expected
    words = ("keys", "create", "--set", f"name={outcome}", YES)
    place.faults.arm(fault)
    exit_code, out, err = gwtui(*words)
    assert (exit_code, out, says in err) == (code, "", True)
    assert log(state)[0].outcome == outcome
    place.faults.arm(fault)
    document = json.loads(gwtui(*words, "--output", "json")[1])
    assert (document["outcome"], document["requests"][0]["outcome"]) == (outcome, outcome)


def test_a_series_stops_at_the_first_request_that_fails(gwtui: Gwtui, place: FaultyGateway) -> None:
    apply_change(gwtui, "workspaces", "create", "--set", "name=Serial", "--set", "slug=serial")
    place.faults.arm("500:PUT /workspaces/{id}/budgets/{interval} x1")
    words = ("budgets", "set", "serial", "--set", "daily=1", "--set", "weekly=2")
    out, _ = gwtui.expect(exits.UNKNOWN, *words, "--output", "json", YES)
    document = json.loads(out)
    assert [request["outcome"] for request in document["requests"]] == ["unknown"]


def test_a_read_only_profile_and_an_ordinary_key_change_nothing(
    gwtui: Gwtui, place: FaultyGateway, state: Path
) -> None:
    words = ("keys", "create", "--set", "name=no")
    code, out, err = gwtui(*words, YES, "--read-only")
    assert (code, out) == (exits.FAILED, "")
    assert "this session is read-only" in err
    gwtui.monkeypatch.setenv("GWTUI_BASE_URL", place.gateway.base_url)
    gwtui.monkeypatch.setenv("GWTUI_TOKEN", place.gateway.ordinary)
    code, out, err = gwtui.in_environment(*words, YES)
    assert (code, out) == (exits.FAILED, "")
    assert "refused:" in err
    assert gwtui(*words, "--plan", "--read-only")[0] == exits.OK
    by_ordinary, by_profile = log(state)
    for entry in (by_ordinary, by_profile):
        assert (entry.outcome, entry.error, entry.status) == ("refused", "NotSentError", None)
        assert entry.title == "Create key “no”"
    assert "read-only" in (by_profile.message or "")
    assert "intent" not in (state / "audit.jsonl").read_text(), "no intent is recorded"


def test_a_new_key_without_its_value_is_told(gwtui: Gwtui, monkeypatch: pytest.MonkeyPatch) -> None:
    async def mute(_service: KeysService, _request: CreateKeyRequest) -> CreatedKey:
        return CreatedKey.model_validate({"data": {"hash": "h", "name": "mute"}})

    monkeypatch.setattr(KeysService, "create", mute)
    code, out, err = gwtui("keys", "create", "--set", "name=mute", YES)
    assert (code, out) == (exits.INCOMPLETE, "")
    assert "key “mute” was created without a value" in err


# Several rows -------------------------------------------------------------------------------------


JSON = ("--output", "json")


def create_keys(gwtui: Gwtui, *names: str) -> list[str]:
    """Create keys with these names; return their hashes."""
    for name in names:
        apply_change(gwtui, "keys", "create", "--set", f"name={name}")
    return [gwtui.json("keys", "get", name)["hash"] for name in names]


def disabled(place: FaultyGateway, hashes: list[str]) -> list[bool]:
    return [place.get(f"/keys/{key_hash}")["disabled"] for key_hash in hashes]


def lines(out: str) -> list[Any]:
    return [json.loads(line) for line in out.splitlines()]


def test_several_keys_are_disabled_and_each_has_its_line(
    gwtui: Gwtui, place: FaultyGateway, state: Path
) -> None:
    names = ("many-a", "many-b", "many-c")
    hashes = create_keys(gwtui, *names)
    apply_change(gwtui, "keys", "disable", "many-b")
    before = len(log(state))
    code, out, err = gwtui("keys", "disable", *names, "--plan", *JSON)
    plan = json.loads(out)
    assert (code, plan["title"], len(plan["requests"])) == (exits.OK, "Disable 2 keys", 2)
    assert [row["identity"] for row in plan["rows"]] == [hashes[0], hashes[2]]
    [change] = plan["rows"][0]["changes"]
    assert (change["before"], change["after"]) == ("enabled", "disabled")
    assert [(item["identity"], item["outcome"]) for item in plan["left_out"]] == [
        (hashes[1], "already")
    ]
    assert len(log(state)) == before, "a plan sends nothing"
    out, err = gwtui.expect(exits.OK, "keys", "disable", *names, YES, *JSON)
    assert [(item["identity"], item["outcome"]) for item in lines(out)] == [
        (hashes[0], "applied"),
        (hashes[2], "applied"),
        (hashes[1], "already"),
    ]
    assert "2 applied" in err
    assert disabled(place, hashes) == [True] * 3
    assert [entry.outcome for entry in log(state)[before:]] == ["applied"] * 2
    code, _, err = gwtui("keys", "disable", *names, YES)
    assert (code, "nothing to do" in err) == (exits.OK, True)


def test_a_filter_chooses_what_a_list_of_it_shows(gwtui: Gwtui, place: FaultyGateway) -> None:
    hashes = create_keys(gwtui, "pick-a", "pick-b", "pack-c")
    code, out, _ = gwtui("keys", "disable", "--filter", "name:pick- -state:disabled", "--plan")
    assert (code, "Disable 2 keys" in out, "pack-c" in out) == (exits.OK, True, False)
    assert gwtui("keys", "disable", "--filter", "name:pick-", YES)[0] == exits.OK
    assert disabled(place, hashes) == [True, True, False]
    assert gwtui("keys", "delete", "--filter", "name:pick-", YES)[0] == exits.OK
    assert gwtui("keys", "get", "pick-a")[0] == exits.FAILED
    code, _, err = gwtui("keys", "delete", "--filter", "name:pick-", YES)
    assert (code, "nothing to do" in err) == (exits.OK, True)


@pytest.mark.parametrize("query", ["", "  ", "nosuch>3", "used>abc", "(ci or bot", "name~["])
def test_a_filter_that_is_not_understood_changes_nothing(
    gwtui: Gwtui, state: Path, query: str
) -> None:
    code, _, err = gwtui("keys", "disable", "--filter", query, YES)
    assert (code, "--filter" in err) == (exits.USAGE, True)
    assert not log(state)


def test_several_are_named_by_name_or_hash_and_fields_are_set_for_all(
    gwtui: Gwtui, place: FaultyGateway
) -> None:
    hashes = create_keys(gwtui, "file-a", "file-b")
    words = ("keys", "update", "file-a", hashes[1], "--set", "limit=12", "--set")
    _, err = gwtui.expect(exits.OK, *words, "limit_reset=monthly", YES)
    keys = [place.get(f"/keys/{item}") for item in hashes]
    assert [(item["limit"], item["limit_reset"]) for item in keys] == [(12, "monthly")] * 2
    code, _, err = gwtui("keys", "update", "file-a", "file-b", "--set", "name=same", YES)
    assert (code, "must be unique" in err) == (exits.USAGE, True)


def test_names_that_are_not_clear_are_all_told_and_nothing_is_sent(
    gwtui: Gwtui, place: FaultyGateway
) -> None:
    hashes = create_keys(gwtui, "left-alone")
    _, err = gwtui.expect(exits.FAILED, "keys", "disable", "left-alone", "nobody", "nothing", YES)
    assert all(text in err for text in ("'nobody'", "'nothing'", "2 of 3 names match no single"))
    assert disabled(place, hashes) == [False]


@pytest.mark.parametrize("words", [(), ("a", "--filter", "name:a")])
def test_rows_are_chosen_in_exactly_one_way(gwtui: Gwtui, words: tuple[str, ...]) -> None:
    code, _, err = gwtui("keys", "disable", *words, YES)
    assert (code, "give names or ids, or --filter QUERY" in err) == (exits.USAGE, True)


@pytest.mark.parametrize(
    ("fault", "outcomes", "code"),
    [
        ("409:writes x1", ["refused", "applied", "applied"], exits.INCOMPLETE),
        ("502:writes x1", ["unknown", "not sent", "not sent"], exits.UNKNOWN),
        ("429:writes x9", ["refused", "not sent", "not sent"], exits.FAILED),
    ],
    ids=["one is refused", "an answer is lost", "all would be refused"],
)
def test_each_row_reports_its_outcome_when_a_write_fails(
    gwtui: Gwtui, place: FaultyGateway, fault: str, outcomes: list[str], code: int
) -> None:
    names = [f"{code}-{letter}" for letter in "abc"]
    hashes = create_keys(gwtui, *names)
    place.faults.arm(fault)
    exit_code, out, err = gwtui("keys", "disable", *names, YES, *JSON)
    assert (exit_code, [item["outcome"] for item in lines(out)]) == (code, outcomes)
    if code != exits.UNKNOWN:
        assert disabled(place, hashes) == [item == "applied" for item in outcomes]
    assert ("The request is not sent again" in err) is (code == exits.UNKNOWN)


# Unresolved changes -------------------------------------------------------------------------------


NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
CONNECTION = Connection("https://gateway.test")


@pytest.mark.parametrize(
    ("gateways", "message"),
    [
        ((), ""),
        (("https://other.test/api/v1",), ""),
        ((CONNECTION.base_url,), "1 earlier change is unresolved"),
        ((CONNECTION.base_url, CONNECTION.base_url), "2 earlier changes are unresolved"),
    ],
)
async def test_only_unresolved_changes_of_this_gateway_are_reported(
    gateways: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = Ledger(tmp_path / "audit.jsonl")
    for number, gateway in enumerate(gateways):
        ledger.record(LedgerEntry(id=f"p{number}", outcome="intent", at=NOW, gateway=gateway))
        ledger.record(LedgerEntry(id=f"p{number}", outcome="unknown", at=NOW, message="lost"))
    client: Any = SimpleNamespace(connection=CONNECTION)
    hub = FeedHub(client, Clock(now=lambda: NOW))
    hub.ledger = ledger
    session: Any = SimpleNamespace(hub=hub)
    await report_unresolved(session)
    await hub.close()
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err
    assert bool(output.err) == bool(message)
