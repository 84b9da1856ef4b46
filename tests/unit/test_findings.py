"""Rules of findings over handmade rows: found, fine, and unknown."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from gwtui.cli import exits
from gwtui.cli.alerts import findings_exit_code
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey
from gwtui.contract.workspaces import Budget
from gwtui.domain.alert_rules import KeyExpiryRule, KeyLimitRule, default_rules
from gwtui.domain.findings import (
    SEVERITIES,
    AccountFacts,
    AccountFinding,
    AccountGuardrail,
    FindingSubject,
    UnreadPart,
    find,
)
from gwtui.resources.findings import command_of
from resource_samples import HOSTILE, NOW, WORKSPACE_ID, key, wire_time, workspace

RULES = default_rules()
WELL: dict[str, Any] = {"limit": Decimal(50), "limit_remaining": Decimal(40), "name": "well"}


def account(*keys: ApiKey, **changes: Any) -> AccountFacts:
    """An account without findings except those of the given keys and changes."""
    guarded = Guardrail.model_validate({"id": "g-default", "name": "Default"})
    facts = AccountFacts(
        workspaces=(workspace(name="Production"),),
        keys={WORKSPACE_ID: keys},
        budgets={WORKSPACE_ID: (Budget.model_validate({"id": "b", "limit_usd": 5}),)},
        guardrails=(AccountGuardrail(guarded, WORKSPACE_ID, is_default=True),),
        key_guardrails={},
        member_guardrails={},
        people=frozenset({"user_1"}),
        endpoints={},
    )
    return replace(facts, **changes)


def rules_and_severities(facts: AccountFacts) -> list[tuple[str, str]]:
    return [(item.rule, item.severity) for item in find(facts, RULES, NOW)]


def days(number: float) -> str:
    return wire_time(NOW + timedelta(days=number))


def test_a_healthy_key_has_no_findings() -> None:
    assert rules_and_severities(account(key(**WELL))) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"limit": None, "limit_remaining": None}, [("no-limit", "warning")]),
        (
            {"limit": ..., "limit_remaining": ...},
            [("key-limit-used-up", "unknown"), ("no-limit", "unknown")],
        ),
        ({"limit_remaining": Decimal("10.01")}, []),
        ({"limit_remaining": Decimal(10)}, [("key-near-limit", "warning")]),
        ({"limit_remaining": Decimal(0)}, [("key-limit-used-up", "critical")]),
        ({"limit_remaining": Decimal(-3)}, [("key-limit-used-up", "critical")]),
        ({"limit_remaining": ...}, [("key-limit-used-up", "unknown")]),
        ({"last_used_at": days(-29)}, []),
        ({"last_used_at": days(-30)}, [("unused", "notice")]),
        ({"last_used_at": None}, [("unused", "notice")]),
        ({"last_used_at": None, "created_at": days(-2)}, []),
        ({"last_used_at": ...}, [("unused", "unknown")]),
        ({"last_used_at": ..., "usage": 0, "byok_usage": 0}, [("unused", "notice")]),
        ({"expires_at": days(7)}, []),
        ({"expires_at": days(6)}, [("key-expires", "warning")]),
        ({"expires_at": days(0.9)}, [("key-expires-today", "critical")]),
        ({"expires_at": ...}, [("key-expires-today", "unknown")]),
        ({"expires_at": None}, []),
        ({"creator_user_id": "user_2"}, [("owner-left", "critical")]),
        ({"creator_user_id": None}, []),
        ({"creator_user_id": ...}, [("owner-left", "unknown")]),
        # A key that no longer works is no risk, whatever else is wrong with it.
        ({"disabled": True, "limit": None, "creator_user_id": "user_2"}, []),
        ({"expires_at": days(-1), "limit": None, "creator_user_id": "user_2"}, []),
    ],
)
def test_findings_on_one_key(changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert rules_and_severities(account(key(**{**WELL, **changes}))) == expected


def test_thresholds_of_alert_rules_and_profile_apply() -> None:
    item = key(**WELL, last_used_at=days(-10), expires_at=days(20))
    rules = {
        "mine": KeyLimitRule(
            name="Mine", severity="critical", fires_at=Decimal(19), clears_at=Decimal(10)
        ),
        "late": KeyExpiryRule(name="Late", within=Decimal(21), scope="key", only="another"),
    }
    spent = find(account(item, unused_days=10), rules, NOW)
    assert [(entry.rule, entry.title, entry.severity, entry.message) for entry in spent[:1]] == [
        ("mine", "Mine", "critical", "20% of $50.00 is used.")
    ]
    assert [entry.rule for entry in spent[1:]] == ["unused"]


HASH = str(key(**WELL).hash)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [("no-guardrail", "warning")]),
        ({"key_guardrails": {HASH: "g2"}}, []),
        ({"member_guardrails": {"user_1": "g2"}}, []),
        ({"member_guardrails": {"user_9": "g2"}}, [("no-guardrail", "warning")]),
        ({"member_guardrails": None}, [("no-guardrail", "unknown")]),
        ({"key_guardrails": None}, []),  # reported by the unread part
    ],
)
def test_a_key_is_bound_by_its_own_its_creators_or_its_workspaces_guardrail(
    changes: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    unmade = AccountGuardrail(
        Guardrail.model_validate({"id": "g"}), WORKSPACE_ID, True, exists=False
    )
    assert rules_and_severities(account(key(**WELL), guardrails=(unmade,), **changes)) == expected


def test_duplicate_names_are_reported_for_the_newer_key() -> None:
    old = key(**WELL, hash="a" * 64, created_at=days(-9))
    young = key(**{**WELL, "name": "WELL "}, hash="b" * 64, created_at=days(-1))
    (finding,) = find(account(young, old), RULES, NOW)
    assert (finding.rule, finding.subject.identity) == ("duplicate-name", "b" * 64)
    assert command_of(finding) == f"gwtui keys update {'b' * 64} --set name=NAME --plan"
    elsewhere = {WORKSPACE_ID: (old,), "other": (young,)}
    assert rules_and_severities(account(keys=elsewhere)) == []


LOOSE = AccountGuardrail(Guardrail.model_validate({"id": "g", "name": "PII"}), WORKSPACE_ID)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"guardrails": (LOOSE,)}, [("assigned-to-nothing", "notice")]),
        ({"guardrails": (LOOSE,), "member_guardrails": {"u": "g"}}, []),
        (
            {"guardrails": (LOOSE,), "key_guardrails": None},
            [("assigned-to-nothing", "unknown")],
        ),
        ({"budgets": {WORKSPACE_ID: ()}}, [("no-budget", "warning")]),
        ({"budgets": {}}, []),  # reported by the unread part
        (
            {"endpoints": {"a/b": 1, "a/c": 2, "a/d": None, "a/e": 0}},
            [("one-endpoint", "warning"), ("one-endpoint", "unknown"), ("one-endpoint", "notice")],
        ),
    ],
)
def test_guardrails_budgets_and_models(
    changes: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert rules_and_severities(account(**changes)) == expected


def test_an_unreadable_list_names_the_skipped_rules() -> None:
    facts = AccountFacts(unread=(UnreadPart("keys", "403 no", workspace(name="Lab")),))
    (finding,) = find(facts, RULES, NOW)
    assert finding.severity == "unknown"
    assert finding.message == "The keys of Lab could not be read: 403 no"
    assert "no limit" in finding.advice
    assert "duplicate name" in finding.advice
    assert "no budget" not in finding.advice


def test_no_two_findings_have_the_same_identity() -> None:
    nameless = [key(**{**WELL, "limit": None}, hash=...) for _ in range(3)]
    unread = tuple(UnreadPart("assignments", part) for part in ("keys", "members"))
    spent = find(account(*nameless, unread=unread), RULES, NOW)
    assert len([item for item in spent if item.rule == "no-limit"]) == 1
    assert len({item.identity for item in spent}) == len(spent)


def test_findings_are_sorted_by_severity_and_unknowns_grouped() -> None:
    keys = [key(**{**WELL, "name": f"k{n}"}, hash=f"{n:064x}", last_used_at=...) for n in range(5)]
    late = key(**{**WELL, "name": "late"}, expires_at=days(0.9))
    spent = find(account(*keys, late), RULES, NOW)
    assert [item.severity for item in spent] == sorted(
        [item.severity for item in spent], key=SEVERITIES.index
    )
    (unknown,) = [item for item in spent if item.severity == "unknown"]
    assert unknown.message == "Unknown for k0, k1, k2 and 2 more: the gateway does not report it."
    assert len({item.identity for item in spent}) == len(spent)


def test_gateway_text_is_escaped_for_terminal_and_shell() -> None:
    bad = key(name=HOSTILE, hash="x; rm -rf $(x)", limit=None, creator_user_id=HOSTILE)
    facts = account(bad, unread=(UnreadPart("keys", HOSTILE, workspace(name=HOSTILE)),))
    spent = find(facts, RULES, NOW)
    assert all(f"{item.message} {item.advice}".isprintable() for item in spent)
    assert {command_of(item) for item in spent} == {None}


def test_exit_codes_follow_fail_on_and_unknown_is_incomplete() -> None:
    def finding(severity: Any, rule: str = "r") -> AccountFinding:
        return AccountFinding(rule, "R", severity, FindingSubject(), "")

    warning, unknown, unread = (
        finding("warning"),
        finding("unknown"),
        finding("unknown", "unread-keys"),
    )
    for fail_on, rows, listed, expected in (
        (None, [warning], [warning], exits.OK),
        (None, [unread], [], exits.INCOMPLETE),
        ("warning", [warning, unread], [warning, unread], exits.FOUND),
        ("notice", [warning], [warning], exits.FOUND),
        ("critical", [warning], [warning], exits.OK),
        ("critical", [warning, unknown], [warning, unknown], exits.INCOMPLETE),
        ("critical", [unread], [], exits.INCOMPLETE),
        ("warning", [warning], [], exits.OK),
    ):
        assert findings_exit_code(rows, listed, exits.OK, fail_on) == expected, (
            fail_on,
            rows,
            listed,
        )
    assert findings_exit_code([], [], exits.INCOMPLETE, "notice") == exits.INCOMPLETE
