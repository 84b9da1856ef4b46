"""Every field that can be set on the command line appears in the plan."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from gwtui.cli import exits
from gwtui.cli.changes.command import DeclaredChange
from gwtui.cli.changes.crud import resource_changes
from gwtui.contract.request import FieldRules, all_rules
from gwtui.crud.fields import Field
from gwtui.crud.form import kind_of
from gwtui.resources.registry import COMMAND_RESOURCES
from headless_kit import Gwtui

OPERANDS = {
    "keys": ("backfill-2025",),
    "workspaces": ("production",),
    "guardrails": ("Approved models",),
    "budgets": ("production",),
    "generation": ("gen-1",),
}
EXACT = {
    "workspace_id": "production",
    "slug": "another-slug",
    "provider": "helioscope",
    "allowed_api_key_hashes": "ab" * 32,
    "content_filters": '[{"pattern": "x", "action": "redact", "label": "[X]"}]',
    "content_filter_builtins": '[{"slug": "email", "action": "redact"}]',
    "daily": "0.01",
    "weekly": "0.02",
    "monthly": "0.03",
    "lifetime": "999999",
}


CHANGES = {
    (name, change.name): change
    for name, resource in COMMAND_RESOURCES.items()
    for change in resource_changes(resource)
    if isinstance(change, DeclaredChange) and change.typed_fields()
}
"""Every verb with --set, by resource and name."""


def fields_of(change: DeclaredChange) -> dict[str, FieldRules]:
    """The fields that --set accepts; inner fields instead of their object."""
    assert change.model is not None
    typed, rules = change.typed_fields(), all_rules(change.model)
    return {
        name: item
        for name, item in rules.items()
        if name.partition(".")[0] in typed and not item.is_object
    }


def samples(name: str, rules: FieldRules) -> list[str]:
    """Values of a field, at least one of which differs from the current one."""
    if name in EXACT:
        return [EXACT[name]]
    if name == "is_byok_only":
        return ["false", "true"]  # the opposite of is_fallback, which it excludes
    if rules.choices or rules.entry_choices:
        return [*rules.choices, *rules.entry_choices[:1]]
    values = {"switch": ["true", "false"], "usd": ["0.5"], "number": ["0.5"]}
    more = {"integers": ["1,2"], "pick": ["some/one"], "datetime": ["in 30 days"]}
    kind = kind_of(Field(name, name), rules)
    return {**values, "three_way": ["true", "false"], **more}.get(kind, ["something"])


def plan(gwtui: Gwtui, words: tuple[str, ...], fields: Mapping[str, str]) -> tuple[int, Any]:
    """Return the exit code, and the plan or the output instead of it."""
    sets = [word for name, value in fields.items() for word in ("--set", f"{name}={value}")]
    secret = "the-user-s-own-key-of-32-characters-or-more"
    code, out, err = gwtui(*words, *sets, "--plan", "--output", "json", stdin=secret)
    return code, json.loads(out) if out else err


@pytest.mark.parametrize(("resource", "verb"), CHANGES)
def test_a_plan_shows_or_refuses_every_field(gwtui: Gwtui, resource: str, verb: str) -> None:
    rules = fields_of(CHANGES[resource, verb])
    operands = () if verb == "create" else OPERANDS.get(resource, ())
    if resource == "byok" and verb != "create":
        operands = (gwtui.json("byok", "list")[0]["id"],)
    secrets = [name for name in rules if rules[name].is_secret]
    words = (resource, verb, *operands, *(word for name in secrets for word in ("--stdin", name)))
    unproven = dict.fromkeys(rules)
    for place in (0, -1):
        values = {name: samples(name, rules[name])[place] for name in rules if name not in secrets}
        code, result = plan(gwtui, words, values)
        while code == exits.USAGE:
            refused = {name for name in values if re.search(rf"\b{re.escape(name)}: is ", result)}
            assert refused, result
            unproven = {name: None for name in unproven if name not in refused}
            values = {name: text for name, text in values.items() if name not in refused}
            code, result = plan(gwtui, words, values)
        assert code in {exits.OK, exits.FAILED}, result
        if isinstance(result, str):
            assert "nothing to do" in result
            continue
        bodies = json.dumps(result["requests"])
        present = [name for name in (*values, *secrets) if name.rpartition(".")[2] in bodies]
        assert len({name.partition(".")[0] for name in present}) <= len(result["changes"])
        unproven = {
            name: None for name in unproven if name not in present and not result["obstacles"]
        }
    assert not unproven


@pytest.mark.parametrize("verb", ["create", "update"])
@pytest.mark.parametrize("agreed", ["--plan", "--yes"])
@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("enforce_zdr=true", "enforce_zdr: is deprecated: give the switch of each vendor"),
        (
            'content_filter_builtins=[{"slug": "email", "action": "flag"}]',
            "content_filter_builtins.0.action: PII filters can only block or redact",
        ),
    ],
    ids=["deprecated", "dialect"],
)
def test_plans_and_writes_refuse_the_same_fields(
    gwtui: Gwtui, verb: str, agreed: str, field: str, says: str
) -> None:
    operands = ("--set", "name=x") if verb == "create" else ("Approved models",)
    code, out, err = gwtui("guardrails", verb, *operands, "--set", field, agreed)
    assert (code, out) == (exits.USAGE, "")
    assert says in err


@pytest.mark.parametrize("verb", ["create", "update"])
def test_help_offers_what_some_service_takes_and_says_which(gwtui: Gwtui, verb: str) -> None:
    out, _ = gwtui.expect(exits.OK, "guardrails", verb, "--help")
    fields = {line.split()[0]: line for line in out.splitlines() if line}
    assert "enforce_zdr" not in fields
    assert fields["enforce_zdr_xai"].endswith("dialect openrouter only")
    assert "dialect" not in fields["enforce_zdr_other"]


@pytest.mark.parametrize(
    "words",
    [
        ("keys", "create", "--set", "name=x"),
        ("guardrails", "create", "--set", "name=x"),
        ("byok", "create", "--set", "provider=northwind"),
    ],
)
def test_plans_name_the_default_workspace(gwtui: Gwtui, words: tuple[str, ...]) -> None:
    out, _ = gwtui.expect(exits.OK, *words, "--plan", stdin="sk-x")
    default = gwtui.json("workspaces", "get", "default")["name"]
    assert re.search(rf"^  Workspace +{default} \(the default workspace\)$", out, re.MULTILINE)


def test_plans_list_fields_that_are_unchanged(gwtui: Gwtui) -> None:
    words = ("workspaces", "update", "production", "--set", "slug=production")
    out, err = gwtui.expect(exits.OK, *words, "--set", "description=new words", "--plan")
    assert "new words" in out
    assert "Slug" not in out
    assert "unchanged: slug" in err


def test_plans_warn_of_likely_mistakes(gwtui: Gwtui) -> None:
    words = ("keys", "create", "--set", "name=late", "--set", "limit=99999999999")
    words = (*words, "--set", "expires_at=2020-01-01")
    warnings = ("the key will never work.", "Spending limit is very high: $99,999,999,999.00.")
    out, _ = gwtui.expect(exits.OK, *words, "--plan")
    lines = [line for line in out.splitlines() if line.startswith("  warning: ")]
    for line, warning in zip(lines, warnings, strict=True):
        assert line.endswith(warning)
    assert "works immediately" not in out
    assert gwtui.json(*words, "--plan")["warnings"] == [line[11:] for line in lines]
    _, err = gwtui.expect(exits.OK, *words, "--yes")
    assert f"warning: {warnings[1]}" in err, "--yes also prints the warning"
