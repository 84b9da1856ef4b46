"""gwtui RESOURCE list and get: every resource, every output format, all list options."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import pytest

from gwtui.cli import exits
from gwtui.cli.lists.selection import CommandReadings, ListQuery
from gwtui.cli.main import main
from gwtui.cli.output import print_rows, print_table
from gwtui.client.request_log import ListGaps, record_list_gaps
from gwtui.domain.serialize import MASK, exact_json, masked
from gwtui.local.caught_errors import caught_errors
from gwtui.local.ledger import Ledger
from gwtui.resources.generations import COLUMNS
from gwtui.resources.keys import resource as resource_of_keys
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.registry import COMMAND_RESOURCES, SPECS
from gwtui.watch import cadence
from gwtui.watch.hub import FeedHub
from gwtui.watch.reads import FeedKey
from headless_kit import FaultyGateway, Gwtui, faulty_gateway

MODEL = "helioscope/corona-code"
PARENTS = {"budgets": "Production", "members": "production", "endpoints": MODEL}
PARENTS["model-guardrails"] = MODEL


def test_a_figure_that_cannot_be_made_is_unknown_and_said(
    gwtui: Gwtui, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_row: Any, _now: datetime) -> NoReturn:
        raise ValueError

    broken = replace(KEYS.columns[0], id="broken", cell=fail, sort=fail, export=None)
    monkeypatch.setattr(resource_of_keys, "KEYS", replace(KEYS, columns=(*KEYS.columns, broken)))
    out, err = gwtui.expect(exits.OK, "keys", "list", "--columns", "name,broken", "--output", "csv")
    assert {line["broken"] for line in csv.DictReader(io.StringIO(out))} == {""}
    assert "an error in gwtui affected part of this run; see" in err
    caught_errors.clear()


def parents(resource: str) -> tuple[str, ...]:
    return (PARENTS[resource],) if resource in PARENTS else ()


OF_THEIR_OWN = {"recovery", "generation", "rotations"}
"""Unresolved changes are there only after an accident, rotations only after one began, generations
are in no list."""


@pytest.mark.parametrize("resource", sorted({*COMMAND_RESOURCES} - OF_THEIR_OWN))
def test_every_resource_is_listed_in_every_form_and_got_by_its_name(
    gwtui: Gwtui, resource: str
) -> None:
    words = (resource, "list", *parents(resource))
    rows = gwtui.json(*words)
    code, out, _ = gwtui(*words, "--output", "csv")
    table = list(csv.DictReader(io.StringIO(out)))
    assert code == exits.OK
    header = next(csv.reader(io.StringIO(out)))
    spec = SPECS[resource]
    columns = [column.id for column in spec.columns]
    ids = ["id"] if spec.has_id and "id" not in columns else []
    assert header == [*ids, *columns]
    assert not {"…", "—", "reading…"} & {cell for line in table for cell in line.values()}
    # Default guardrails that are not set up are in no JSON; a model has several endpoints.
    if resource not in {"guardrails", "zdr"}:
        assert len(table) == len(rows)
    assert rows, "the simulated account has no such rows"
    row = table[0]
    identity = row["id"] if ids else next(iter(row.values()))
    if resource == "all-endpoints":
        identity = f"{row['model']} at {row['provider']}"
    elif resource == "activity":
        parts = ("date", "model", "endpoint_id", "workspace_id")
        identity = "|".join(rows[0].get(part) or "" for part in parts)
    operands = () if COMMAND_RESOURCES[resource].single else (identity,)
    out, _ = gwtui.expect(exits.OK, resource, "get", *parents(resource), *operands)
    assert len(out.splitlines()) > 3
    assert "\x1b" not in out


# Options of lists


def test_json_is_what_the_gateway_sent(gwtui: Gwtui, place: FaultyGateway) -> None:
    workspace = gwtui.json("workspaces", "get", "production")
    listed = gwtui.json("keys", "list", "--workspace", "production", "--sort", "name")
    from_gateway = place.get("/keys", workspace_id=workspace["id"], include_disabled="true")
    assert {key["hash"] for key in from_gateway} == {key["hash"] for key in listed}
    idle = next(key for key in listed if key["disabled"])
    assert place.get(f"/keys/{idle['hash']}") == idle
    by_name = gwtui.json("keys", "list", "--workspace", "Production")
    assert len(by_name) == len(gwtui.json("keys", "list", "--workspace", workspace["id"]))


def test_filter_and_sort_speak_the_language_of_the_dashboard(gwtui: Gwtui) -> None:
    used = ("keys", "list", "--filter", "used>80 -state:disabled", "--sort", "used:desc")
    out, err = gwtui.expect(
        exits.OK, *used, "--output", "csv", "--columns", "name,used,state,expires"
    )
    assert err == ""
    rows = list(csv.DictReader(io.StringIO(out)))
    shares = [Decimal(row["used"]) for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert min(shares) > 80
    assert len(rows) < len(gwtui.json("keys", "list"))
    assert {row["state"] for row in rows} <= {"near limit", "over limit", "expiring soon", "active"}
    _, err = gwtui.expect(exits.OK, "keys", "list", "--filter", "colour:red")
    assert "there is no column 'colour'" in err
    assert "0 keys of" in err


@pytest.mark.parametrize(
    ("resource", "plural"), [("recovery", "unresolved changes"), ("organization", "people")]
)
def test_matching_rows_are_counted_in_words(gwtui: Gwtui, resource: str, plural: str) -> None:
    _, _, err = gwtui(resource, "list", "--filter", "nobody is called so")
    assert f"0 {plural}" in err


@pytest.mark.parametrize(
    ("words", "path", "asks"),
    [
        (("workspaces", "get", "production"), "/workspaces/{id}/members", True),
        (
            ("workspaces", "get", "production", "--output", "json"),
            "/workspaces/{id}/members",
            False,
        ),
        (("workspaces", "list", "--columns", "slug,members"), "/workspaces/{id}/members", True),
        (
            ("keys", "list", "--filter", "name:batch", "--output", "ndjson"),
            "/guardrails/assignments/keys",
            False,
        ),
        (("keys", "list", "--filter", "guardrail:none"), "/guardrails/assignments/keys", True),
        (
            ("keys", "list", "--filter", "guardrail:none", "--output", "ndjson"),
            "/guardrails/assignments/keys",
            True,
        ),
    ],
)
def test_completing_data_is_read_only_where_shown_or_filtered(
    gwtui: Gwtui, place: FaultyGateway, words: tuple[str, ...], path: str, asks: bool
) -> None:
    armed = place.faults.arm(f"latency=0:GET {path}")
    gwtui.expect(exits.OK, *words)
    assert (armed.struck > 0) == asks


def test_csv_is_for_machines(gwtui: Gwtui) -> None:
    _, out, _ = gwtui("keys", "list", "--output", "csv", "--filter", '"backfill-2025"')
    (row,) = csv.DictReader(io.StringIO(out))
    assert Decimal(row["limit"]) == 600
    assert row["expires"] == "never"
    assert row["created"].endswith("Z")
    assert row["name"] == "backfill-2025"
    _, out, _ = gwtui("byok", "list", "--output", "csv", "--columns", "all")
    assert len(out.splitlines()[0].split(",")) == len(SPECS["byok"].columns) + 1
    assert out.startswith("id,")


USAGE: list[tuple[tuple[str, ...], str]] = [
    (("keys", "list", "--sort", "colour"), "there is no column 'colour'"),
    (("keys", "list", "--sort", "name:up"), "must be asc or desc"),
    (("keys", "list", "--columns", "x"), "there is no column 'x'"),
    (("keys", "list", "--output", "json", "--columns", "name"), "table or csv"),
    (("models", "list", "--workspace", "x"), "unrecognized arguments"),
    (("keys", "lst"), "did you mean 'list'?"),
    (("endpoints", "list"), "MODEL"),
    # Conditions that can never hold.
    (("keys", "list", "--filter", "used>"), "--filter: used>: a value is missing"),
    *(
        ((resource, "list", "--filter", query), "expected a ")
        for resource, query in (
            ("keys", "used>abc"),
            ("keys", "used>>"),
            ("keys", "expires<xx"),
            ("keys", "ci -limit:abc"),
            ("activity", "day=someday"),
            ("workspaces", "keys>many"),
        )
    ),
    *(
        (("activity", "list", *options), says)
        for options, says in (
            (("--group-by", "modle"), "unknown part 'modle'; did you mean 'model'?"),
            (("--group-by", "key,key"), "key is given twice"),
            (("--group-by", "key", "--sort", "spend"), "cannot be combined with --group-by"),
            (("--group-by", "key", "--since", "today"), "--since: today is not over"),
            (("--group-by", "user", "--key", "voice-hotline"), "cannot be combined with --key"),
        )
    ),
]


@pytest.mark.parametrize(("words", "says"), USAGE)
def test_usage_errors_are_reported_before_anything_is_asked(
    gwtui: Gwtui, place: FaultyGateway, words: tuple[str, ...], says: str
) -> None:
    place.faults.arm("500")
    code, out, err = gwtui(*words)
    assert (code, out) == (exits.USAGE, "")
    assert says in err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("keys", "list", "--workspace", "nowhere"), exits.FAILED, "no workspace 'nowhere'"),
        (("keys", "get", "nothing"), exits.FAILED, "no key 'nothing'"),
        (("endpoints", "list", "no/model"), exits.FAILED, ""),
        (("activity", "list", "--until", "2020-01-01"), exits.USAGE, "the last 30 completed days"),
        (
            ("activity", "list", "--since", "yesterday", "--until", "2d"),
            exits.USAGE,
            "--since and --until: expected a day",
        ),
    ],
)
def test_what_the_gateway_does_not_have_is_refused(
    gwtui: Gwtui, words: tuple[str, ...], code: int, says: str
) -> None:
    result, out, err = gwtui(*words)
    assert (result, out, says in err) == (code, "", True)


_KINDS = {"text": str, "number": (int, float, Decimal), "moment": datetime, "flag": bool}


@pytest.mark.parametrize("resource", sorted({*COMMAND_RESOURCES} - OF_THEIR_OWN))
def test_a_column_holds_what_a_filter_takes_it_to_hold(
    gwtui: Gwtui, resource: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[tuple[Sequence[Any], datetime]] = []
    apply = ListQuery.apply

    def spy(query: ListQuery, rows: Sequence[Any], now: datetime) -> list[Any]:
        listed.append((rows, now))
        return apply(query, rows, now)

    monkeypatch.setattr(ListQuery, "apply", spy)
    assert gwtui(resource, "list", *parents(resource))[0] == exits.OK
    ((rows, now),) = listed
    assert rows
    spec = SPECS[resource]
    for column in [item for item in spec.columns if item.id not in spec.facets]:
        values = {column.sort(row, now) for row in rows} - {None}
        for value in values:
            assert isinstance(value, _KINDS[column.kind]), (column.id, column.kind, value)
            assert isinstance(value, bool) == (column.kind == "flag"), (column.id, value)
        if column.kind == "number" and any(values):
            # A column that shows words is not filtered by its sort value.
            text = "".join(column.cell(row, now).text for row in rows)
            assert any(letter.isdigit() for letter in text), column.id


def test_a_name_that_means_several_lists_them(gwtui: Gwtui) -> None:
    for _ in range(2):
        _, err = gwtui.expect(exits.OK, "keys", "create", "--set", "name=twin", "--yes")
    code, out, err = gwtui("keys", "get", "twin")
    assert (code, out) == (exits.FAILED, "")
    assert "2 keys match 'twin'" in err
    twins = gwtui.json("keys", "list", "--filter", "twin")
    assert all(f"{twin['hash']} (masked key {twin['label']}" in err for twin in twins), err
    key_hash = twins[0]["hash"]
    assert gwtui.json("keys", "get", key_hash[:12])["hash"] == key_hash


def test_a_reading_that_lacks_something_says_so_and_ends_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def fetch(_client: Any) -> tuple[str, ...]:
        record_list_gaps(2, complete=False)
        return ("row",)

    async def exit_code() -> int:
        hub = FeedHub(None)  # type: ignore[arg-type]
        readings = CommandReadings(hub)
        assert readings.exit_code == exits.OK
        for name in ("x", "what completes x"):
            assert await readings.value(hub.feed(FeedKey(name), fetch, cadence.KEYS)) == ("row",)
        await hub.close()
        return readings.exit_code

    assert asyncio.run(exit_code()) == exits.INCOMPLETE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("2 entries could not be read; 1 list is incomplete: rows are missing")
    assert not ListGaps()


def test_an_unreachable_gateway_fails(gwtui: Gwtui, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GWTUI_TOKEN", "x")
    code, out, err = gwtui.in_environment("credits", "get", "--base-url", "http://127.0.0.1:9")
    assert (code, out) == (exits.FAILED, "")
    assert err


def test_a_table_and_lines_of_json(gwtui: Gwtui) -> None:
    code, out, err = gwtui("keys", "list", "--sort", "name")
    lines = out.splitlines()
    assert (code, lines[0].split()[:2]) == (exits.OK, ["Name", "State"])
    assert f"{len(lines) - 1} keys" in err
    code, out, _ = gwtui("keys", "list", "--output", "ndjson")
    assert len({json.loads(line)["hash"] for line in out.splitlines()}) == len(lines) - 1
    code, out, _ = gwtui("credits", "get", "--output", "ndjson")
    assert set(json.loads(out)) == {"total_credits", "total_usage"}
    code, out, _ = gwtui("credits", "get", "--output", "csv")
    assert out.splitlines()[0] == "balance,purchased,used,share,burn,runway_days"


def test_wide_letters_keep_columns_straight(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([("a", "n"), ("\u6771\u4eac", "1"), ("e\u0301", "22")], right=[False, True])
    assert capsys.readouterr().out == "a      n\n\u6771\u4eac   1\ne\u0301     22\n"


# JSON


def test_numbers_keep_every_digit_and_text_cannot_disturb_a_terminal() -> None:
    value = {"a": [Decimal("1.10"), 5, None, True], "b": "\x1b[31m\u202e\u00e9", "c": {}, "d": []}
    text = exact_json(value)
    assert text == '{"a":[1.10,5,null,true],"b":"\\u001b[31m\\u202e\\u00e9","c":{},"d":[]}'
    plain = {"a": [1, "x", {"b": None}], "c": {}, "d": []}
    assert exact_json(plain, indent=2) == json.dumps(plain, indent=2)
    for odd in (Decimal("NaN"), float("inf")):
        with pytest.raises(ValueError, match="JSON"):
            exact_json(odd)


def test_secret_looking_fields_are_masked() -> None:
    value = {"key": "sk-1", "list": [{"Token": "t", "key": {"deep": 1}}], "keys": "no secret"}
    assert masked(value) == {
        "key": MASK,
        "list": [{"Token": MASK, "key": {"deep": 1}}],
        "keys": "no secret",
    }


# Loaded modules


def test_no_headless_command_loads_textual_and_help_no_http(place: FaultyGateway) -> None:
    program = (
        "import sys\n"
        "from gwtui.cli.main import main\n"
        "def call(*words):\n"
        "    try:\n"
        "        return main(words)\n"
        "    except SystemExit as end:\n"
        "        return end.code\n"
        "assert call('keys', 'list', '--help') == call('keys', 'update', '--help') == 0\n"
        "assert call('check', '--help') == call('watch', '--help') == 0\n"
        "assert 'httpx' not in sys.modules\n"
        "import os\n"
        "for words in (('keys', 'list'), ('keys', 'get', 'backfill-2025'), ('check',),\n"
        "              ('keys', 'disable', 'backfill-2025', '--plan'),\n"
        "              ('watch', '--ndjson', '--count', '1')):\n"
        f"    os.environ['GWTUI_TOKEN'] = {place.gateway.management!r}\n"
        f"    os.environ['GWTUI_BASE_URL'] = {place.gateway.base_url!r}\n"
        "    assert call(*words) == 0, words\n"
        "loaded = [name for name in ('textual', 'starlette') if name in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert process.returncode == 0, process.stderr[-2000:]


def test_a_whole_list_leaves_its_names_for_completion(gwtui: Gwtui, private_home: Path) -> None:
    folder = private_home / "cache" / "gwtui"
    gwtui.json("members", "list", "production")
    gwtui.json("keys", "list", "--workspace", "production")
    assert not folder.exists()
    rows = gwtui.json("keys", "list", "--filter", "name:airflow-staging")
    (file,) = folder.iterdir()
    cached = json.loads(file.read_text())["names"]
    assert len(rows) == 1
    assert {"airflow-staging", "backfill-2025"} <= set(cached["keys"])
    assert rows[0]["hash"] in cached["keys by id"]


# Activity -----------------------------------------------------------------------------------------


def table(out: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(out)))


def spent(rows: list[dict[str, str]]) -> Decimal:
    return sum((Decimal(row["spend"]) for row in rows), Decimal(0))


def test_sums_agree_with_the_rows_whatever_they_are_grouped_by(gwtui: Gwtui) -> None:
    code, out, _ = gwtui("activity", "list", "--since", "yesterday", "--output", "csv")
    rows = table(out)
    assert code == exits.OK
    assert rows
    [day] = {row["day"] for row in rows}
    for by in ("day,model,key", "user,workspace", "provider"):
        out, err = gwtui.expect(
            exits.OK,
            *("activity", "list", "--since", "yesterday", "--until", "yesterday"),
            *("--group-by", by, "--output", "csv"),
        )
        sums = table(out)
        assert spent(sums) == spent(rows), by
        assert sum(int(item["requests"]) for item in sums) == sum(
            int(item["requests"]) for item in rows
        )
        assert [*sums[0]][: by.count(",") + 1][0] == by.split(",")[0]
        if by.startswith("day"):
            assert {item["day"] for item in sums} == {day}
            assert all(item["key_id"] or item["key"] == "deleted keys" for item in sums)
    costs = [Decimal(item["spend"]) for item in sums]
    assert costs == sorted(costs, reverse=True)

    code, out, _ = gwtui(
        "activity", "list", "--group-by", "day", "--since", "3d", "--output", "json"
    )
    days = [item["day"] for item in json.loads(out)]
    assert days == sorted(days)
    assert len(days) == 3
    out, err = gwtui.expect(
        exits.OK, "activity", "list", "--group-by", "key", "--since", "yesterday"
    )
    assert f"{day} UTC: " in err
    assert out.splitlines()[0].split()[:2] == ["key", "spend"]
    assert " $" in out.splitlines()[1]


# Generations --------------------------------------------------------------------------------------


@pytest.fixture
def generation() -> str:
    """The id of a stored generation, whenever the gateway was created."""
    return faulty_gateway().gateway.generation


def test_a_generation_is_printed_in_every_format(gwtui: Gwtui, generation: str) -> None:
    words = ("generation", "get", generation)
    code, out, err = gwtui(*words)
    assert (code, err) == (exits.OK, "")
    assert out.startswith(f"Generation {generation}\n")
    assert "\nCost\n" in out
    assert gwtui.json(*words) == faulty_gateway().get("/generation", id=generation)
    code, out, _ = gwtui(*words, "--output", "ndjson")
    assert json.loads(out)["id"] == generation
    code, out, _ = gwtui(*words, "--output", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert [*row] == [column.id for column in COLUMNS]
    assert row["id"] == generation
    assert float(row["cost"]) >= 0


def test_an_unknown_generation_is_named(gwtui: Gwtui) -> None:
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
    _, err = gwtui.expect(exits.OK, *words, "--set", "comment=slow today", "--yes")
    ledger = Ledger(private_home / "state" / "gwtui" / "audit.jsonl")
    assert {entry.action for entry in ledger.entries()} == {"generation.feedback"}
    assert "slow today" not in ledger.path.read_text()
    _, err = gwtui.expect(exits.USAGE, "generation", "feedback", generation, "--yes")
    assert "category" in err


# Lists that no declaration describes --------------------------------------------------------------


KNOWN_COLUMNS = ("name", "on", "size")
PLAIN_ROWS: tuple[dict[str, Any], ...] = (
    {"name": "=1+1\x1b[2J", "on": True, "size": 7},
    {"name": "b", "on": False, "size": None},
)


def printed(
    capsys: pytest.CaptureFixture[str],
    form: str,
    columns: str | None = None,
    rows: Any = PLAIN_ROWS,
) -> str:
    print_rows(rows, Namespace(output=form, columns=columns), KNOWN_COLUMNS)
    return capsys.readouterr().out


def test_forms_and_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "table").split()[:3] == ["name", "on", "size"]
    assert printed(capsys, "table", "on,name").split()[:4] == ["on", "name", "yes", "=1+1␛[2J"]
    assert printed(capsys, "csv").splitlines() == ["name,on,size", "'=1+1␛[2J,true,7", "b,false,"]
    assert printed(capsys, "csv", "size").splitlines() == ["size", "7", '""']
    assert printed(capsys, "csv", "name", ()) == "name\n"
    assert printed(capsys, "table", None, ()) == ""
    assert printed(capsys, "csv", "all").startswith("name,on,size\n")
    document = json.loads(printed(capsys, "json"))
    assert document == [*PLAIN_ROWS]
    assert [json.loads(line) for line in printed(capsys, "ndjson").splitlines()] == document


def test_a_column_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(exits.CommandError, match="did you mean 'name'") as refused:
        printed(capsys, "table", "nmae")
    assert refused.value.code == exits.USAGE
    with pytest.raises(exits.CommandError, match="requires --output table or csv"):
        printed(capsys, "json", "name")


def test_commands_take_columns(private_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = private_home / "config" / "gwtui"
    config.mkdir(parents=True, mode=0o700)
    (config / "profiles.toml").write_text('[profiles.work]\nbase_url = "https://a.example"\n')
    for words, expected in (
        (("profiles", "--columns", "name,host", "--output", "csv"), "name,host\nwork,a.example\n"),
        (("profiles", "--columns", "name"), "name\nwork\n"),
        (("audit", "--columns", "what", "--output", "csv"), "what\n"),
        (("alerts", "rules", "--columns", "id", "--output", "csv"), "id\n"),
    ):
        assert main(words) == exits.OK
        assert capsys.readouterr().out.startswith(expected)
    for words in (("audit", "--columns", "x"), ("alerts", "--columns", "x", "rules")):
        assert main(words) == exits.USAGE
        assert "there is no column 'x'" in capsys.readouterr().err
