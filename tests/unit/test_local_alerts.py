"""The rule file: defaults, overrides, and edits that preserve the user's text."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.crud.fields import PickOption
from gwtui.domain.alert_rules import (
    KINDS,
    CreditsRule,
    UptimeRule,
    default_rules,
    distinct_names,
)
from gwtui.domain.money import parse_quantity, quantity
from gwtui.domain.times import duration, parse_duration_or_zero
from gwtui.local.alerts import (
    AlertEffects,
    AlertFileError,
    load_alerts,
    new_identity,
    put_rule,
    remove_rule,
)
from gwtui.resources.alerts import rule_form


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "alerts.toml"


def test_the_defaults_apply_without_a_file(file: Path) -> None:
    book = load_alerts(file)
    assert book.rules == default_rules()
    assert {rule.kind.id for rule in book.rules.values()} == set(KINDS), "one rule of each kind"
    assert book.effects == AlertEffects()
    assert not book.effects.bell, "no bell by default"
    assert book.effects.command is None


def test_a_rule_is_written_in_the_words_of_people_and_read_back(file: Path) -> None:
    rule = UptimeRule(
        name="Atlas",
        scope="model",
        only="northwind/atlas",
        window="5m",
        fires_at=Decimal("99.5"),
        clears_at=Decimal("99.9"),
        fire_after=timedelta(minutes=90),
    )
    put_rule(file, "atlas", rule)
    text = file.read_text()
    assert 'fires_at = "99.5%"' in text
    assert 'fire_after = "1 h 30 min"' in text
    assert "clear_after" not in text, "default values are not written"
    assert load_alerts(file).rules["atlas"] == rule
    assert file.stat().st_mode & 0o777 == 0o600


def test_only_changes_to_a_default_rule_are_written(file: Path) -> None:
    default = default_rules()["credits-low"]
    put_rule(file, "credits-low", default.model_copy(update={"fires_at": Decimal(5)}))
    assert file.read_text() == '[rules.credits-low]\nfires_at = "5 USD"\n'
    put_rule(file, "credits-low", default)
    assert file.read_text().strip() == ""
    put_rule(file, "credits-low", default.model_copy(update={"enabled": False}))
    remove_rule(file, "credits-low")
    assert load_alerts(file).rules["credits-low"] == default


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[rules.x]\nkind = "y"', ": rules.x.kind: must be one of credits-below"),
        ("[rules.x]\nfires_at = 1", ": rules.x.kind: must be one of"),
        ('[rules.credits-low]\nkind = "unreadable"', ": rules.credits-low.kind: is credits-below"),
        (
            '[rules.credits-low]\nfires_at = "5 EUR"',
            ": rules.credits-low.fires_at: expected a number in USD, such as 12.5",
        ),
        ("[rules.credits-low]\nfires_at = true", ": rules.credits-low.fires_at: "),
        ("[rules.credits-low]\nfires_at = 50", "clears_at: must not be lower"),
        ("[rules.key-near-limit]\nclears_at = 99", "clears_at: must not be higher"),
        ("[rules.credits-low]\nfires = 5", ": rules.credits-low.fires: is not a known key"),
        ('[rules.endpoint-slow]\nscope = "model"', "only: must be the id of the model to watch"),
        ('[rules.endpoint-slow]\nonly = "a/b"', "only: must be empty for a rule that watches all"),
        ('[rules.endpoint-slow]\nscope = "key"\nonly = "x"', "scope: must be one of"),
        ('[rules.endpoint-slow]\nfire_after = "8 days"', "fire_after: "),
        ('[rules.endpoint-slow]\nfire_after = "soon"', "fire_after: expected a duration"),
        ("[effects]\nbell = 1", ": effects.bell: must be true or false"),
        ("[effects]\ncommand = []", ": effects.command: must have at least 1 entry"),
        ('[effects]\ncommand = "date"', ": effects.command: must be a list"),
        ("[rule.x]", ": rule: is not a known key"),
        ("rules = 1", ": rules: must be a table"),
        ("[rules.\n", ": "),
    ],
)
def test_a_fault_is_named_with_its_place(file: Path, text: str, says: str) -> None:
    file.write_text(text)
    with pytest.raises(AlertFileError) as caught:
        load_alerts(file)
    assert str(caught.value).startswith(f"{file}:")
    assert says in str(caught.value)


def test_an_edit_that_would_not_be_understood_leaves_the_file(file: Path) -> None:
    file.write_text("# mine\n[rules.credits-low]\nfires_at = 11\n")
    wrong = CreditsRule.model_construct(name="x", fires_at=Decimal(9), clears_at=Decimal(3))
    with pytest.raises(AlertFileError, match="must not be lower"):
        put_rule(file, "mine", wrong)
    with pytest.raises(AlertFileError, match="cannot be the name"):
        put_rule(file, "two words", default_rules()["credits-low"])
    assert file.read_text() == "# mine\n[rules.credits-low]\nfires_at = 11\n"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_a_file_that_others_can_only_read_or_run_is_read(file: Path, mode: int) -> None:
    file.write_text("")
    file.chmod(mode)
    assert load_alerts(file).rules == default_rules()


@pytest.mark.parametrize("mode", [0o602, 0o666, 0o777])
def test_a_file_that_others_can_write_is_refused(file: Path, mode: int) -> None:
    file.write_text("")
    file.chmod(mode)
    with pytest.raises(AlertFileError, match="chmod 600"):
        load_alerts(file)


@pytest.mark.parametrize("count", [200, 201])
def test_a_file_holds_at_most_200_rules(file: Path, count: int) -> None:
    rule = '[rules.r{}]\nkind = "credits-below"\nname = "x"\nfires_at = 1\nclears_at = 1\n'
    file.write_text("".join(rule.format(number) for number in range(count)))
    if count == 200:
        assert len(load_alerts(file).own) == count
    else:
        with pytest.raises(AlertFileError, match="rules: must have at most 200 entries"):
            load_alerts(file)


@pytest.mark.parametrize(
    ("name", "existing", "identity"),
    [
        ("Atlas: slow at night!", {}, "atlas-slow-at-night"),
        ("Atlas", {"atlas": 1, "atlas-2": 1}, "atlas-3"),
        ("东京", {}, "rule"),
    ],
)
def test_new_rules_get_unique_ids(name: str, existing: dict[str, int], identity: str) -> None:
    assert new_identity(name, existing) == identity


def test_rules_of_one_name_can_be_told_apart() -> None:
    rules = default_rules()
    assert distinct_names(rules) == {identity: rule.name for identity, rule in rules.items()}
    low = rules["credits-low"]
    names = distinct_names(
        {**rules, "mine": low, "other": low.model_copy(update={"name": "Other"})}
    )
    assert (names["credits-low"], names["mine"]) == (
        "Credits low (credits-low)",
        "Credits low (mine)",
    )
    assert (names["other"], names["price-changed"]) == ("Other", "Price changed")


async def test_a_new_rule_starts_with_an_unused_name() -> None:
    async def no_options() -> tuple[PickOption, ...]:
        return ()

    def initial_name(*existing: str) -> object:
        return rule_form(None, CreditsRule, no_options, existing).initial["name"]

    assert initial_name() == "Credits low"
    assert initial_name("Credits low") == "Credits low 2"
    assert initial_name("Credits low", "Credits low 2", "Credits low 4") == "Credits low 3"
    edit_form = rule_form(default_rules()["credits-low"], CreditsRule, no_options, ["Credits low"])
    assert edit_form.initial["name"] == "Credits low", "an edited rule keeps its name"


@given(
    st.decimals(0, 10**9, places=6), st.sampled_from(["USD", "%", "ms", "days", "endpoints", ""])
)
def test_a_quantity_reads_back_as_the_same(value: Decimal, unit: str) -> None:
    assert parse_quantity(quantity(value, unit), unit) == value


@given(st.integers(0, 7 * 86400))
def test_a_span_reads_back_as_the_same(seconds: int) -> None:
    assert parse_duration_or_zero(duration(timedelta(seconds=seconds))) == timedelta(
        seconds=seconds
    )
