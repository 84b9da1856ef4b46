from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain.cell_values import SortValue, ValueKind
from gwtui.domain.filters import FilterError, parse

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
ROW: dict[str, SortValue] = {
    "name": "Production Router",
    "state": "near limit",
    "limit": Decimal("50.00"),
    "used": Decimal(83),
    "reset": None,
    "context": 131_072,
    "share": 0.5,
    "disabled": False,
    "created": NOW - timedelta(days=3),
    "expires_at": NOW + timedelta(days=20),
}
HAYSTACK = "Production Router\nnear limit\n$50.00\nStraße".casefold()


KINDS: dict[str, ValueKind] = {
    **dict.fromkeys(ROW, "text"),
    **dict.fromkeys(("limit", "used", "context", "share"), "number"),
    **dict.fromkeys(("created", "expires_at"), "moment"),
    "disabled": "flag",
}


def matches(text: str, **changes: SortValue) -> bool:
    row = {**ROW, **changes}

    def reader(value: SortValue) -> Callable[[], SortValue]:
        return lambda: value

    fields = {name: reader(value) for name, value in row.items()}
    return parse(text, KINDS).matches(fields, HAYSTACK, NOW)


def error_of(text: str) -> str:
    with pytest.raises(FilterError) as caught:
        parse(text, KINDS)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "is_match"),
    [
        ("", True),
        ("   ", True),
        ("router", True),
        ("ROUTER prod", True),
        ("STRASSE", True),
        ('"production router"', True),
        ("-staging", True),
        ('-"router production"', True),
        ("name:prod", True),
        ("Name:PROD", True),
        ('name:"production r"', True),
        ('name="production router"', True),
        ("name!=prod", True),
        ('state:"near limit"', True),
        ("-state:expired", True),
        ("limit:50", True),
        ("limit=50.0", True),
        ("limit>49.99", True),
        ("limit>=$50", True),
        ("limit<=50", True),
        ("limit<1,000", True),
        ("limit!=51", True),
        ("used>80", True),
        ("used>80%", True),
        ("used<0.1k", True),
        ("context>128k", True),
        ("context<1m", True),
        ("share:.5", True),
        ("disabled:no", True),
        ("disabled:f", True),
        ("disabled=false", True),
        ("disabled!=yes", True),
        ("-disabled:yes", True),
        ("reset:none", True),
        ("reset:NULL", True),
        ("reset:—", True),
        ("-limit:none", True),
        ("limit!=none", True),
        ("created<7d", True),
        ("created>2d", True),
        ("created:3d", True),
        ("created>=2026-11-18", True),
        ("created<2026-11-19", True),
        ("created:2026-11", True),
        ("created:2026-11-18", True),
        ("created>2026-11", True),
        ("created>2025", True),
        ("-created:2025", True),
        ("expires_at<30d", True),
        ("expires-at>2w", True),
        ("expires_at>2026-12-01T00:00Z", True),
        ("-", True),
        ("router -", True),
        ('"', True),
        ('""', True),
        ('name:""', True),
        ("staging", False),
        ("router staging", False),
        ("-router", False),
        ('"router production"', False),
        ("name:staging", False),
        ("-name:prod", False),
        ("name=production", False),
        ('name!="production router"', False),
        ("state:expired", False),
        ("limit:5", False),
        ("limit>50", False),
        ("limit<50", False),
        ("limit:none", False),
        ("used<80", False),
        ("disabled:yes", False),
        ("reset:weekly", False),
        ("reset>5", False),
        ("reset<5", False),
        ("reset!=none", False),
        ("-reset:none", False),
        ("created>7d", False),
        ("created:2025", False),
        ("created<2026-11", False),
        ("expires_at<7d", False),
        ('"unclosed', False),
        # A group asks for one of its alternatives.
        ("(staging or router)", True),
        ("(staging or nothing)", False),
        ("(router or staging) limit>5", True),
        ("(router or staging) limit>500", False),
        ("-(staging or nothing)", True),
        ("-(staging or router)", False),
        ("(name:prod limit>500 or name:prod limit>5)", True),
        ("((staging or router) limit:50 or nothing)", True),
        ('(name:"production router" or staging)', True),
        ('("or" or staging)', False),
        ("(staging OR -nothing)", True),
        ("(limit >= 80 or used >= 80%)", True),
        ("(~^prod or staging)", True),
        ("(name~(x|y) or name~r$)", True),
        (r"(name~r\) or name~r$)", True),
        ("(staging or near)-nothing", True),
        ("staging or router", True),
        ("router or staging nothing", True),
        ("router staging or nothing", False),
        ("production (router)", True),
        ("(router production)", True),
        ("(name~^(x|prod))", True),
        # A pattern is searched in a column or in every cell.
        ("name~^prod", True),
        ("name~^router", False),
        ("-name~^router", True),
        ('name~"production r"', True),
        ("~^near", True),
        ("~ROUTER$", True),
        ("~^router", False),
        ("-~^router", True),
        (r"~\$\d\d\.00$", True),
    ],
)
def test_a_filter_matches_or_hides_a_row(text: str, is_match: bool) -> None:
    assert matches(text) is is_match


def test_suffixes_are_powers_of_a_thousand() -> None:
    for suffix, power in {"k": 3, "M": 6, "B": 9, "T": 12}.items():
        assert matches(f"limit:2.5{suffix}", limit=Decimal("2.5").scaleb(power))


def test_an_unknown_figure_is_never_compared() -> None:
    for operator in ("<", "<=", ">", ">="):
        assert not matches(f"limit{operator}0", limit=None)
    assert matches("limit!=5", limit=None)


def test_an_unknown_column_is_searched_as_typed() -> None:
    query = parse("https://x gpt-4:free limit>5 12:30 author/model:free", KINDS)
    assert query.unknown == ("https", "gpt-4")
    assert query.columns == {"limit"}
    assert matches("gpt-4:free", name="x") is False
    assert parse("gpt-4:free", {}).matches({}, "author/gpt-4:free", NOW)
    assert not parse("gpt-4:free", {}).matches({}, "author/gpt-4", NOW)
    assert parse("-gpt-4:free", {}).matches({}, "author/gpt-4", NOW)
    assert parse('a:"b c"', {}).matches({}, "a:b c", NOW)
    assert parse("router > 5", {}).matches({}, "router > 5", NOW)


def test_a_query_names_the_columns_it_reads() -> None:
    assert parse(" - ", KINDS).is_empty
    for text in ("prod", "limit>5 x", "absent:5", "~x"):
        assert parse(text, KINDS).reads_text
    assert not parse("limit>5", KINDS).reads_text
    assert not parse("limit>5", KINDS).is_empty


def test_columns_are_only_read_when_the_query_asks_for_them() -> None:
    def boom() -> SortValue:
        raise AssertionError

    assert not parse("absent limit:5", KINDS).matches({"limit": boom}, "something else", NOW)
    assert parse("some", KINDS).matches({"limit": boom}, "something else", NOW)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("limit> router", "limit>: a value is missing"),
        ("limit: router", "limit:: a value is missing"),
        ("limit>= router", "limit>=: a value is missing"),
        ("name: router", "name:: a value is missing"),
        ("-limit< router", "-limit<: a value is missing"),
        ("created!= router", "created!=: a value is missing"),
        ("used>abc", "used>abc: expected a number such as 80 or 1.5k"),
        ("used>>", "used>>: expected a number"),
        ("used>none", "expected a number"),
        ("used:abc", "expected a number such as 80 or 1.5k"),
        ('limit:""', "expected a number"),
        ("-limit=x", "expected a number"),
        ("router used>abc staging", "used>abc: expected a number"),
        ("created>soon", "expected a date such as 2026-11-01 or today, or a distance such as 7d"),
        ("expires-at<xx", "expires-at<xx: expected a date"),
        ("created=someday", "expected a date"),
        ("created<2026-13-45", "expected a date"),
        ("created<none", "expected a date"),
        ("disabled:maybe", "disabled:maybe: expected yes or no"),
        ("disabled>no", "use :, = or !="),
        ("router (used>abc or staging)", "used>abc: expected a number"),
        ("(staging or rou", "a group lacks its closing )"),
        ("a)", "a group lacks its opening ("),
        ("((a) b", "a group lacks its closing )"),
        ("(a or )", "an alternative is missing next to or"),
        ("(a or or b)", "an alternative is missing next to or"),
        ("or router", "an alternative is missing next to or"),
        ("name~[a", "name~[a: unterminated character set"),
        ("~(a", "~(a: missing )"),
        ("limit~5", "limit~5: a pattern only matches text"),
        ("created~5", "a pattern only matches text"),
    ],
)
def test_contradictory_conditions_are_errors(text: str, says: str) -> None:
    assert says in error_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "used>80%",
        "used<1.5k",
        "limit:none",
        "limit!=—",
        "created<7d",
        "created:2026",
        "created=2026-1",
        "created:2026-11-18T07:3",
        "created>2026-11",
        "expires-at:none",
        "disabled:y",
        "disabled!=false",
        "name>m",
        "name:80",
        "state:>",
        "colour>red",
        "https://x",
    ],
)
def test_satisfiable_conditions_are_valid(text: str) -> None:
    assert not parse(text, KINDS).is_empty


@given(st.sampled_from(list(ROW)), st.text('abc01.5$%d-: "', max_size=6))
def test_a_minus_negates_a_condition(column: str, value: str) -> None:
    text = f'{column}:"{value.replace(chr(34), "")}"'
    try:
        parse(text, KINDS)
    except FilterError:
        return
    assert matches(text) != matches(f"-{text}")
    assert matches(text.replace(":", "=", 1)) != matches(text.replace(":", "!=", 1))


@pytest.mark.parametrize(
    "text",
    [
        "used >= 80%",
        "used>= 80",
        "used > $5",
        "limit = 50",
        "limit: 50",
        "limit != none",
        "limit > -1",
        'name: "production router"',
        'name = "production router"',
        "created < 7d",
        "created >= 2026-11",
        "disabled: no",
        "reset = none",
        "expires_at > tomorrow",
    ],
)
def test_spaces_may_stand_around_a_comparison(text: str) -> None:
    assert matches(text)
    query = parse(text, KINDS)
    assert (len(query.columns), query.reads_text) == (1, False)


@pytest.mark.parametrize("text", ["used > staging", "used >", "name = x"])
def test_words_with_a_space_are_not_comparisons(text: str) -> None:
    assert not parse(text, KINDS).columns


@pytest.mark.parametrize(
    ("text", "hour", "is_match"),
    [
        ("created:today", 3, True),
        ("created:today", -8, False),
        ("created=yesterday", -8, True),
        ("created:yesterday", -31, True),
        ("created:yesterday", -32, False),
        ("created!=yesterday", -8, False),
        ("created>=yesterday", -31, True),
        ("created>=yesterday", -32, False),
        ("created<today", -8, True),
        ("created<today", 0, False),
        ("created:tomorrow", 17, True),
        ("created<=tomorrow", 17, True),
        ("created<=tomorrow", 18, False),
        ('created<"next monday"', 40, True),
        ('created<"next monday"', 42, False),
        ('created>"last friday"', -30, True),
        ('created>"last friday"', -32, False),
        ("created<90", -24 * 89, True),
        ("created<90", -24 * 91, False),
    ],
)
def test_filters_accept_names_of_days(text: str, hour: int, is_match: bool) -> None:
    assert matches(text, created=NOW + timedelta(hours=hour)) is is_match


def test_a_heading_names_its_column() -> None:
    headings = {"left": "limit", "all_time": "used", "p50_ms": "context"}
    query = parse("left>5 all-time>=1 (p50-ms<9 or x)", KINDS, headings)
    assert query.columns == {"limit", "used", "context"}
    assert query.unknown == ()


_SIGNS = ["(", ")", " or ", " ", "-", "~", '"', "a", "\\", "used", "name", ">", ">= ", ":", "80%"]
_SIGNS += ["[", "yesterday", "none", "{2}", "*", "+", "|", "30d", "OR"]
PIECES = st.lists(st.sampled_from(_SIGNS), max_size=14).map("".join)


@given(st.text() | PIECES)
def test_no_input_raises_another_error(text: str) -> None:
    with suppress(FilterError):
        assert isinstance(matches(text), bool)


@given(st.text(), st.sampled_from(list(ROW)), st.sampled_from([":", "=", "!=", ">", "<=", ':"']))
def test_no_value_raises_another_error(text: str, column: str, sign: str) -> None:
    for typed in (f"{column}{sign}{text}", f"-{column}{sign}{text}"):
        with suppress(FilterError):
            assert isinstance(matches(typed), bool)


def test_deep_parentheses_fail_quickly() -> None:
    for text in (
        "(" * 50_000,
        "( " * 20_000,
        "(a or " * 20_000,
        "-(" * 9_000 + "a or b" + ")" * 9_000,
        "x" + "(a" * 20_000,
    ):
        with suppress(FilterError):
            parse(text, KINDS)
    assert "at most 10 levels" in error_of("(a or " * 12 + "b" + ")" * 12)


@given(st.lists(st.sampled_from(["router", "absent", "limit>5", "limit>500"]), min_size=2))
def test_a_group_is_the_disjunction_of_its_alternatives(parts: list[str]) -> None:
    assert matches(f"({' or '.join(parts)})") == any(matches(part) for part in parts)
