"""gwtui RESOURCE create, update, delete and so on: every verb over the executor of writes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import httpx
import pytest

from gwtui.cli import exits
from gwtui.cli.main import main
from gwtui.local.ledger import Ledger
from headless_kit import YES, Gwtui, Site, done, log

# Keys


def test_a_new_key_goes_to_stdout_alone_and_works(gwtui: Gwtui, place: Site, state: Path) -> None:
    words = ("keys", "create", "--set", "name=ci", "--set", "limit=$1,000.50")
    out = done(gwtui, *words, "--set", "limit_reset=monthly", "--set", "expires_at=in 30 days")
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
    everything = b"".join(path.read_bytes() for path in state.rglob("*") if path.is_file())
    assert out.strip().encode() not in everything


def test_a_new_key_as_json_has_its_value_and_its_hash(gwtui: Gwtui, place: Site) -> None:
    made = json.loads(done(gwtui, "keys", "create", "--set", "name=js", "--output", "json"))
    assert made["outcome"] == "applied"
    (request,) = made["requests"]
    assert request["answer"]["data"]["hash"] == request["identity"]
    assert place.get("/key", token=made["key"])["label"] == request["answer"]["data"]["label"]


class _Full(io.StringIO):
    def flush(self) -> None:
        raise OSError(28, "No space left on device")


def lost(gwtui: Gwtui, place: Site, name: str) -> str:
    """Make a key whose value nobody could read; what was said of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", _Full())
        patch.setenv("GWTUI_TOKEN", place.gateway.management)
        patch.setenv("GWTUI_BASE_URL", place.gateway.base_url)
        words = ["keys", "create", "--set", f"name={name}", "--set", "limit=7", YES]
        assert main(words) == exits.INCOMPLETE
    return gwtui.commands.capsys.readouterr().err


@pytest.fixture
def another_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command is a program of its own, as on a terminal."""
    monkeypatch.setattr("gwtui.local.ledger.may_run", lambda _process: False)


@pytest.mark.usefixtures("another_program")
def test_a_new_key_that_nobody_could_read_is_acknowledged_or_created_again(
    gwtui: Gwtui, place: Site
) -> None:
    err = lost(gwtui, place, "lost")
    assert "No space left on device" in err
    assert "gwtui recovery recreate" in err
    before = gwtui.json("keys", "get", "lost")
    (left,) = gwtui.json("recovery", "list")
    assert (left["identity"], left["outcome"]) == (before["hash"], "applied")
    assert "cannot be undone" in gwtui("recovery", "recreate", "lost", "--plan")[1]
    out = done(gwtui, "recovery", "recreate", "lost")
    assert place.get("/key", token=out.strip())["limit"] == 7
    assert gwtui.json("keys", "get", "lost")["hash"] != before["hash"], "the old one is gone"
    assert gwtui("recovery", "recreate", "lost", YES)[0] == exits.FAILED
    lost(gwtui, place, "kept")
    code, out, err = gwtui("recovery", "acknowledge", "kept")
    assert (code, out, "is stored" in err) == (exits.OK, "", True)
    assert gwtui.json("recovery", "list") == []


@pytest.mark.usefixtures("another_program")
def test_a_lost_key_that_was_deleted_meanwhile_is_not_offered_any_more(
    gwtui: Gwtui, place: Site
) -> None:
    lost(gwtui, place, "here")
    done(gwtui, "keys", "delete", "here")
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


def test_a_key_is_changed_stopped_started_and_deleted(gwtui: Gwtui, place: Site) -> None:
    done(gwtui, "keys", "create", "--set", "name=life", "--set", "limit=5")
    identity = gwtui.json("keys", "get", "life")["hash"]
    assert done(gwtui, "keys", "update", "life", "--set", "name=alive", "--unset", "limit") == ""
    assert place.get(f"/keys/{identity}")["limit"] is None
    done(gwtui, "keys", "disable", identity[:10])
    assert place.get(f"/keys/{identity}")["disabled"] is True
    code, _, err = gwtui("keys", "disable", "alive", YES)
    assert (code, "nothing to do" in err) == (exits.OK, True)
    done(gwtui, "keys", "enable", "alive")
    done(gwtui, "keys", "update", identity, "--set", "workspace_id=production")
    assert gwtui.json("keys", "get", identity)["workspace_id"] != ""
    done(gwtui, "keys", "delete", "alive")
    assert gwtui("keys", "get", identity)[0] == exits.FAILED


# The other resources


def test_a_workspace_with_budgets_and_members(gwtui: Gwtui, place: Site) -> None:
    made = done(gwtui, "workspaces", "create", "--set", "name=Lab", "--set", "slug=lab").strip()
    done(gwtui, "workspaces", "update", "lab", "--set", "io_logging_sampling_rate=25%")
    assert place.get(f"/workspaces/{made}")["io_logging_sampling_rate"] == 0.25

    done(gwtui, "budgets", "set", "lab", "--set", "daily=5", "--set", "monthly=100")
    assert {one["limit_usd"] for one in gwtui.json("budgets", "list", "Lab")} == {5, 100}
    code, _, err = gwtui("budgets", "set", "lab", "--set", "daily=500", YES)
    assert code == exits.FAILED
    assert "must be less than the monthly budget" in err
    code, _, err = gwtui("budgets", "remove", "lab", "hourly", YES)
    assert (code, "invalid choice: 'hourly'" in err) == (exits.USAGE, True)
    done(gwtui, "budgets", "remove", "lab", "daily", "monthly")
    assert gwtui.json("budgets", "list", "lab") == []

    people = gwtui.json("organization", "list")
    one, two = people[0], people[1]
    done(gwtui, "members", "add", "lab", one["email"], two["id"])
    code, _, err = gwtui("members", "add", "lab", two["id"], YES)
    assert (code, "already members" in err) == (exits.OK, True)
    done(gwtui, "members", "remove", "lab", two["email"])
    done(gwtui, "members", "add", "lab", one["id"], two["id"])
    assert len(gwtui.json("members", "list", "lab")) == 2, "who is a member already is left out"
    done(gwtui, "members", "remove", "lab", two["email"])
    assert two["id"] not in {member["user_id"] for member in gwtui.json("members", "list", "lab")}

    done(gwtui, "workspaces", "delete", "lab")
    assert gwtui("workspaces", "get", "lab")[0] == exits.FAILED


def test_a_workspace_in_use_and_the_default_one_are_not_deleted(gwtui: Gwtui) -> None:
    code, out, err = gwtui("workspaces", "delete", "production", YES)
    assert (code, out) == (exits.FAILED, "")
    assert "must be moved, disabled or deleted first" in err
    code, _, err = gwtui("workspaces", "delete", "default", YES)
    assert code == exits.FAILED
    assert "--confirm-default default" in err
    words = ("workspaces", "delete", "default", "--confirm-default", "default", "--plan")
    assert "--confirm-default" not in gwtui(*words)[1]


def test_a_guardrail_with_assignments(gwtui: Gwtui, place: Site) -> None:
    lists = ("--set", "allowed_models=a/b, c/d", "--set", "limit_usd=9")
    pattern = '--set=content_filters=[{"pattern": "gw-[0-9]+", "action": "redact", "label": "[K]"}]'
    made = done(gwtui, "guardrails", "create", "--set", "name=Narrow", *lists, pattern).strip()
    sent = place.get(f"/guardrails/{made}")
    assert sent["allowed_models"] == ["a/b", "c/d"]
    assert sent["content_filters"][0]["label"] == "[K]"

    done(gwtui, "guardrails", "update", "Narrow", "--set", "name=Wide", "--unset", "allowed_models")
    assert place.get(f"/guardrails/{made}")["allowed_models"] is None

    person = gwtui.json("organization", "list")[0]
    whom = ("--key", "backfill-2025", "--member", person["email"])
    out = done(gwtui, "guardrails", "assign", "Wide", *whom, "--output", "json")
    assert [one["outcome"] for one in json.loads(out)["requests"]] == ["applied", "applied"]
    assert len(gwtui.json("assignments", "list", "--guardrail", "Wide")) == 2
    code, _, err = gwtui("guardrails", "assign", "Wide", *whom, YES)
    assert (code, "already" in err) == (exits.OK, True)
    done(gwtui, "guardrails", "unassign", "Wide", *whom)
    assert gwtui.json("assignments", "list", "--guardrail", made) == []
    assert gwtui("guardrails", "assign", "Wide", YES)[0] == exits.USAGE
    done(gwtui, "guardrails", "delete", "Wide")


def test_a_guardrail_of_people_whose_names_cannot_be_read(gwtui: Gwtui, place: Site) -> None:
    """They go by their ids then."""
    person = gwtui.json("organization", "list")[0]
    done(gwtui, "guardrails", "create", "--set", "name=Nameless")
    done(gwtui, "guardrails", "assign", "Nameless", "--member", person["email"])
    place.faults.arm("403:GET /organization/members")
    code, out, err = gwtui("guardrails", "delete", "Nameless", "--plan")
    assert code == exits.OK, err
    assert f"1 member: {person['id']}." in out
    done(gwtui, "guardrails", "delete", "Nameless")


def test_a_default_guardrail_comes_to_exist_with_its_update(gwtui: Gwtui, place: Site) -> None:
    made = done(gwtui, "workspaces", "create", "--set", "name=Bare", "--set", "slug=bare").strip()
    identity = place.get(f"/workspaces/{made}")["default_guardrail_id"]
    code, _, err = gwtui("guardrails", "delete", identity, YES)
    assert (code, "does not exist yet" in err) == (exits.FAILED, True)
    done(gwtui, "guardrails", "update", identity, "--set", "limit_usd=3")
    assert place.get(f"/guardrails/{identity}")["limit_usd"] == 3


def test_a_provider_key_comes_on_stdin_and_goes_nowhere_else(
    gwtui: Gwtui, place: Site, state: Path
) -> None:
    words = ("byok", "create", "--set", "provider=northwind", "--set", "name=own")
    made = done(gwtui, *words, stdin="sk-sentinel-one\n").strip()
    assert place.get(f"/byok/{made}")["name"] == "own"
    before = place.get(f"/byok/{made}")["label"]
    done(gwtui, "byok", "rotate", "own", stdin="sk-other-sentinel")
    assert place.get(f"/byok/{made}")["label"] != before
    done(gwtui, "byok", "update", "own", "--set", "is_fallback=yes")
    done(gwtui, "byok", "disable", "own")
    assert place.get(f"/byok/{made}")["disabled"] is True
    done(gwtui, "byok", "enable", made)
    done(gwtui, "byok", "delete", "own")
    everything = b"".join(path.read_bytes() for path in state.rglob("*") if path.is_file())
    assert b"sentinel" not in everything
    code, _, err = gwtui(*words, YES, stdin="")
    assert (code, "key: stdin is empty" in err) == (exits.USAGE, True)
    code, _, err = gwtui(*words, "--set", "key=sk-sentinel", YES, stdin="x")
    assert code == exits.USAGE
    assert "sentinel" not in err


@pytest.mark.parametrize("agreed", ["--plan", "--yes"])
def test_a_provider_that_the_gateway_does_not_list_takes_force(
    gwtui: Gwtui, state: Path, agreed: str
) -> None:
    words = ("byok", "create", "--set", "provider=nortwhind", "--set", "name=mistyped", agreed)
    code, out, err = gwtui(*words, stdin="sk-x")
    assert (code, out) == (exits.USAGE, "")
    assert "lists no provider 'nortwhind'; did you mean 'northwind'? Use --force to store it" in err
    assert not (state / "audit.jsonl").exists()
    code, out, err = gwtui(*words, "--force", stdin="sk-x")
    if agreed == "--plan":
        assert code == exits.OK
        assert (
            "  warning: The gateway lists no provider 'nortwhind'; did you mean 'northwind'?" in out
        )
    else:
        # From here on it is for the gateway to say.
        assert (state / "audit.jsonl").exists()
        assert code == exits.OK or "refused: Add a provider key for nortwhind" in err


def test_where_providers_cannot_be_read_that_is_said_and_stands_in_nobody_s_way(
    gwtui: Gwtui, place: Site
) -> None:
    place.faults.arm("403:GET /providers")
    words = ("byok", "create", "--set", "provider=nortwhind", "--plan")
    code, out, err = gwtui(*words, stdin="sk-x")
    assert code == exits.OK
    assert "the gateway's providers could not be read" in err
    assert "Whether the gateway has a provider 'nortwhind' is not known." in out
