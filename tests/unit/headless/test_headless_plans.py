"""Every field that can be set on the command line is in the plan that it asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from gwtui.cli import exits
from gwtui.cli.changes.command import DeclaredChange
from gwtui.cli.changes.crud import changes_at
from gwtui.cli.resources import RESOURCES
from gwtui.contract.request import FieldRules, RequestModel, all_rules
from gwtui.crud.fields import Field
from gwtui.crud.form import kind_of
from headless_kit import Gwtui, Site

BASES = {
    ("keys", "create"): {"name": "x"},
    ("workspaces", "create"): {"name": "x", "slug": "x-x"},
    ("guardrails", "create"): {"name": "x"},
    ("byok", "create"): {"provider": "northwind"},
    ("generation", "feedback"): {"category": "latency"},
}
"""What a request cannot do without."""
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


@dataclass(frozen=True)
class Verb:
    """A change of a resource on the command line."""

    resource: str
    change: DeclaredChange

    @property
    def model(self) -> type[RequestModel]:
        assert self.change.model is not None
        return self.change.model


def verbs() -> Iterator[Verb]:
    for resource in RESOURCES.values():
        for change in changes_at(resource.id):
            if isinstance(change, DeclaredChange) and change.typed_fields():
                yield Verb(resource.id, change)


def fields_of(verb: Verb) -> Iterator[str]:
    """What can be named by --set; parts of a part instead of the whole."""
    for name, rules in all_rules(verb.model).items():
        if name.partition(".")[0] in verb.change.typed_fields() and not rules.is_object:
            yield name


CASES = [
    pytest.param(verb, name, id=f"{verb.resource}-{verb.change.name}-{name}")
    for verb in verbs()
    for name in fields_of(verb)
]


def samples(name: str, rules: FieldRules) -> list[str]:
    """Values of which at least one is another one than there is now."""
    if name in EXACT:
        return [EXACT[name]]
    if rules.choices or rules.entry_choices:
        return [*rules.choices, *rules.entry_choices[:1]]
    values = {"switch": ["true", "false"], "usd": ["0.5"], "number": ["0.5"]}
    more = {"integers": ["1,2"], "pick": ["some/one"], "datetime": ["in 30 days"]}
    kind = kind_of(Field(name, name), rules)
    return {**values, "three_way": ["true", "false"], **more}.get(kind, ["something"])


_known: dict[str, Any] = {}
"""What was asked for once: a credential, and what plans show without the field; no plan changes."""


def plan(gwtui: Gwtui, verb: Verb, given: Mapping[str, str], *more: str) -> tuple[int, Any]:
    """Exit code, and the plan or what was said instead of one."""
    makes = verb.change.name == "create"
    operands = () if makes else OPERANDS.get(verb.resource, ())
    if verb.resource == "byok" and not makes:
        if "credential" not in _known:
            _known["credential"] = gwtui.json("byok", "list")[0]["id"]
        operands = (_known["credential"],)
    words = [word for name, value in given.items() for word in ("--set", f"{name}={value}")]
    code, out, err = gwtui(
        *(verb.resource, verb.change.name, *operands, *words, *more),
        *("--plan", "--output", "json"),
        stdin="the-user-s-own-key-of-32-characters-or-more",
    )
    return code, json.loads(out) if out else err


def known(gwtui: Gwtui, verb: Verb, base: Mapping[str, str]) -> Any:
    """The changes that a plan shows without the field."""
    name = f"{verb.resource} {verb.change.name}"
    if name not in _known:
        _known[name] = plan(gwtui, verb, base)[1]["changes"]
    return _known[name]


@pytest.mark.parametrize(("verb", "name"), CASES)
def test_a_plan_shows_or_refuses_every_field(
    gwtui: Gwtui, place: Site, verb: Verb, name: str
) -> None:
    rules = all_rules(verb.model)[name]
    base = BASES.get((verb.resource, verb.change.name), {})
    if rules.secret:
        # It belongs to a part that something else of it says, too.
        other = {**base, f"{name.partition('.')[0]}.user": "somebody"}
        without, shown = plan(gwtui, verb, other), plan(gwtui, verb, other, "--stdin", name)
        assert (without[0], shown[0]) == (exits.OK, exits.OK)
        assert without[1]["changes"] != shown[1]["changes"]
        return
    before = known(gwtui, verb, base) if base else []
    outcomes = [plan(gwtui, verb, {**base, name: one}) for one in samples(name, rules)]
    for code, told in outcomes:
        if code == exits.USAGE:
            assert re.search(rf"\b{re.escape(name)}: is ", told)
        elif isinstance(told, str):
            assert "nothing to do" in told
        else:
            assert code in {exits.OK, exits.FAILED}
            carried = name.rpartition(".")[2]
            assert carried in json.dumps(told["requests"]) or told["obstacles"]
    shown_by = [told["changes"] for code, told in outcomes if not isinstance(told, str)]
    refused = all(code == exits.USAGE for code, _ in outcomes)
    assert refused or any(changes != before for changes in shown_by)


@pytest.mark.parametrize("verb", ["create", "update"])
@pytest.mark.parametrize("agreed", ["--plan", "--yes"])
def test_what_is_deprecated_is_refused_whether_planned_or_sent(
    gwtui: Gwtui, verb: str, agreed: str
) -> None:
    operands = ("--set", "name=x") if verb == "create" else ("Approved models",)
    code, out, err = gwtui("guardrails", verb, *operands, "--set", "enforce_zdr=true", agreed)
    assert (code, out) == (exits.USAGE, "")
    assert "enforce_zdr: is deprecated: give the switch of each vendor" in err


@pytest.mark.parametrize("verb", ["create", "update"])
@pytest.mark.parametrize("agreed", ["--plan", "--yes"])
def test_what_the_dialect_refuses_is_refused_whether_planned_or_sent(
    gwtui: Gwtui, verb: str, agreed: str
) -> None:
    operands = ("--set", "name=x") if verb == "create" else ("Approved models",)
    flagging = 'content_filter_builtins=[{"slug": "email", "action": "flag"}]'
    code, out, err = gwtui("guardrails", verb, *operands, "--set", flagging, agreed)
    assert (code, out) == (exits.USAGE, "")
    assert "content_filter_builtins.0.action: PII filters can only block or redact" in err


@pytest.mark.parametrize("verb", ["create", "update"])
def test_help_offers_what_some_service_takes_and_says_which(gwtui: Gwtui, verb: str) -> None:
    code, out, _ = gwtui("guardrails", verb, "--help")
    assert code == exits.OK
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
def test_where_no_workspace_is_named_the_default_one_is(
    gwtui: Gwtui, words: tuple[str, ...]
) -> None:
    code, out, _ = gwtui(*words, "--plan", stdin="sk-x")
    assert code == exits.OK
    default = gwtui.json("workspaces", "get", "default")["name"]
    assert re.search(rf"^  Workspace +{default} \(the default workspace\)$", out, re.MULTILINE)


def test_what_is_like_that_already_is_told_beside_the_plan(gwtui: Gwtui) -> None:
    words = ("workspaces", "update", "production", "--set", "slug=production")
    code, out, err = gwtui(*words, "--set", "description=new words", "--plan")
    assert code == exits.OK
    assert "new words" in out
    assert "Slug" not in out
    assert "unchanged: slug" in err


def test_what_may_be_a_mistake_is_warned_of(gwtui: Gwtui) -> None:
    words = ("keys", "create", "--set", "name=late", "--set", "limit=99999999999")
    words = (*words, "--set", "expires_at=2020-01-01")
    warnings = ("the key never works.", "Spending limit is very high: $99,999,999,999.00.")
    code, out, _ = gwtui(*words, "--plan")
    assert code == exits.OK
    lines = [line for line in out.splitlines() if line.startswith("  warning: ")]
    for line, warning in zip(lines, warnings, strict=True):
        assert line.endswith(warning)
    assert "works at once" not in out
    assert gwtui.json(*words, "--plan")["warnings"] == [line[11:] for line in lines]
    code, _, err = gwtui(*words, "--yes")
    assert code == exits.OK
    assert f"warning: {warnings[1]}" in err, "whoever agrees beforehand is told besides"
