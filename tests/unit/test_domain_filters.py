from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain.cell_values import SortValue, ValueKind
from gwtui.domain.filters import Group, Query, Term, Word, parse

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


def words(query: Query, *, negated: bool = False) -> tuple[str, ...]:
    found = (part for part in query.parts if isinstance(part, Word))
    return tuple(word.text for word in found if word.negated == negated)


def terms(query: Query) -> list[Term]:
    return [part for part in query.parts if isinstance(part, Term)]


def groups(query: Query) -> list[Group]:
    return [part for part in query.parts if isinstance(part, Group)]


def matches(text: str, **changes: SortValue) -> bool:
    row = {**ROW, **changes}

    def reader(value: SortValue) -> Callable[[], SortValue]:
        return lambda: value

    fields = {name: reader(value) for name, value in row.items()}
    return parse(text).matches(fields, HAYSTACK, NOW)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "router",
        "ROUTER prod",
        "STRASSE",
        '"production router"',
        "-staging",
        '-"router production"',
        "name:prod",
        "Name:PROD",
        'name:"production r"',
        'name="production router"',
        "name!=prod",
        'state:"near limit"',
        "-state:expired",
        "limit:50",
        "limit=50.0",
        "limit>49.99",
        "limit>=$50",
        "limit<=50",
        "limit<1,000",
        "limit!=51",
        "used>80",
        "used>80%",
        "used<0.1k",
        "context>128k",
        "context<1m",
        "share:.5",
        "disabled:no",
        "disabled:f",
        "disabled=false",
        "disabled!=yes",
        "-disabled:yes",
        "reset:none",
        "reset:NULL",
        "reset:—",
        "-limit:none",
        "limit!=none",
        "created<7d",
        "created>2d",
        "created:3d",
        "created>=2026-11-18",
        "created<2026-11-19",
        "created:2026-11",
        "created:2026-11-18",
        "created>2026-11",
        "created>2025",
        "-created:2025",
        "expires_at<30d",
        "expires-at>2w",
        "expires_at>2026-12-01T00:00Z",
        "-",
        "router -",
        '"',
        '""',
        'name:""',
    ],
)
def test_what_shows_the_row(text: str) -> None:
    assert matches(text)
    assert parse(text).error == ""


@pytest.mark.parametrize(
    "text",
    [
        "staging",
        "router staging",
        "-router",
        '"router production"',
        "name:staging",
        "-name:prod",
        "name=production",
        'name!="production router"',
        "state:expired",
        "limit:5",
        "limit>50",
        "limit<50",
        "limit:none",
        "limit:abc",
        "limit>abc",
        "used<80",
        "disabled:yes",
        "disabled:maybe",
        "disabled>no",
        "reset:weekly",
        "reset>5",
        "reset<5",
        "reset!=none",
        "-reset:none",
        "created>7d",
        "created:2025",
        "created<2026-11",
        "created>soon",
        "expires_at<7d",
        '"unclosed',
    ],
)
def test_what_hides_the_row(text: str) -> None:
    assert not matches(text)


def test_an_unknown_figure_is_never_compared() -> None:
    for operator in ("<", "<=", ">", ">="):
        assert not matches(f"limit{operator}0", limit=None)
    assert matches("limit!=5", limit=None)


@pytest.mark.parametrize("text", ["limit>", "limit:", "limit>=", "name:", "-limit<", "created!="])
def test_what_is_not_finished_is_named_and_narrows_nothing(text: str) -> None:
    query = parse(text)
    assert "needs a value" in query.error
    assert not query.parts
    assert matches(text)
    assert not matches(f"{text} staging")


def test_a_name_that_is_no_column_is_searched_as_typed() -> None:
    query = parse("https://x gpt-4:free limit>5 12:30 author/model:free")
    assert query.unknown_columns(ROW) == ("https", "gpt-4")
    assert parse("gpt-4:free").matches({}, "author/gpt-4:free", NOW)
    assert not parse("gpt-4:free").matches({}, "author/gpt-4", NOW)
    assert parse("-gpt-4:free").matches({}, "author/gpt-4", NOW)


def test_words_are_told_for_highlighting() -> None:
    query = parse('Prod "Two Words" -not state:x')
    assert words(query) == ("prod", "two words")
    assert words(query, negated=True) == ("not",)
    assert query.parts
    assert not parse(" ").parts


def test_columns_are_only_read_when_the_query_asks_for_them() -> None:
    def boom() -> SortValue:
        raise AssertionError

    assert not parse("absent limit:5").matches({"limit": boom}, "something else", NOW)
    assert parse("some").matches({"limit": boom}, "something else", NOW)


KINDS: dict[str, ValueKind] = {
    **dict.fromkeys(ROW, "text"),
    **dict.fromkeys(("limit", "used", "context", "share"), "number"),
    **dict.fromkeys(("created", "expires_at"), "moment"),
    "disabled": "flag",
}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("used>abc", "used>abc: expected a number such as 80 or 1.5k"),
        ("used>>", "used>>: expected a number"),
        ("used>none", "expected a number"),
        ("used:abc", "expected a number such as 80 or 1.5k, or none"),
        ('limit:""', "expected a number"),
        ("-limit=x", "expected a number"),
        ("router used>abc staging", "used>abc: expected a number"),
        ("created>soon", "expected a date such as 2026-11-01 or today, or a distance such as 7d"),
        ("expires-at<xx", "expires-at<xx: expected a date"),
        ("created=someday", "expected a date"),
        ("created<2026-13-45", "expected a date"),
        ("created<none", "expected a date"),
        ("disabled:maybe", "disabled:maybe: expected yes or no, or none"),
        ("disabled>no", "use :, = or !="),
    ],
)
def test_what_can_never_hold_is_an_error_and_narrows_nothing(text: str, says: str) -> None:
    query = parse(text).checked(KINDS)
    assert says in query.error
    assert not terms(query)
    assert parse(text).error == ""


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
def test_what_can_hold_is_no_error(text: str) -> None:
    query = parse(text)
    assert query.checked(KINDS) == query


@pytest.mark.parametrize(
    ("text", "unfinished"),
    [
        ("used>", True),
        ("used> ", False),
        ("used>a", True),
        ("used>a ", False),
        ('used>"a"', False),
        ('used>"a', True),
        ("used>a limit>", False),
        ("used> limit>a", False),
        ("limit>a used>b", False),
        ("router created<7x", True),
    ],
)
def test_an_error_tells_whether_it_may_still_be_being_typed(text: str, unfinished: bool) -> None:
    query = parse(text).checked(KINDS)
    assert query.error
    assert query.fault.unfinished is unfinished


def test_the_rest_of_a_query_with_an_error_still_narrows() -> None:
    query = parse("router used>abc limit>5").checked(KINDS)
    assert (words(query), [term.name for term in terms(query)]) == (("router",), ["limit"])


@given(st.text(), st.sampled_from(list(KINDS)), st.sampled_from([":", "=", "!=", ">", "<="]))
def test_checking_never_raises_and_what_is_refused_never_holds(
    text: str, column: str, operator: str
) -> None:
    typed = f'{column}{operator}"{text.replace(chr(34), "")}"'
    if parse(typed).checked(KINDS).error:
        assert KINDS[column] != "text"
        assert operator == "!=" or not matches(typed) or text == ""


@given(st.text(), st.sampled_from(list(ROW)), st.sampled_from([":", "=", "!=", ">", "<=", ':"']))
def test_typing_never_raises(text: str, column: str, operator: str) -> None:
    for typed in (text, f"{column}{operator}{text}", f"-{column}{operator}{text}"):
        shown = matches(typed)
        assert isinstance(shown, bool)


@given(st.sampled_from(list(ROW)), st.text('abc01.5$%d-: "', max_size=6))
def test_a_minus_turns_a_condition_around(column: str, value: str) -> None:
    text = f'{column}:"{value.replace(chr(34), "")}"'
    assert matches(text) != matches(f"-{text}")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
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
    ],
)
def test_a_group_asks_for_one_of_its_alternatives(text: str, shown: bool) -> None:
    assert matches(text) is shown
    assert parse(text).error == ""


@pytest.mark.parametrize("text", ["Llama (free)", "(free)", "(a b)", "a)", "((a) b)", "x(a or b"])
def test_parentheses_without_alternatives_are_text(text: str) -> None:
    query = parse(text)
    assert not groups(query)
    assert words(query) == tuple(text.casefold().split())


def test_or_outside_of_a_group_is_a_word_and_that_is_told() -> None:
    query = parse("router or staging")
    assert words(query) == ("router", "or", "staging")
    assert query.note == '"or" is searched as text: put alternatives in ( )'
    for text in ("or", "or router", "router or", '"router" "or"', "(a or b) c"):
        assert parse(text).note == "", text


def test_a_group_without_its_end_narrows_while_it_is_typed() -> None:
    query = parse("(staging or rou")
    assert (query.error, query.fault.unfinished, query.fault.open) == (
        "a group lacks its closing )",
        True,
        True,
    )
    assert matches("(staging or rou")
    assert matches("(router or ")
    assert not parse("(staging or used>x").checked(KINDS).fault.open


@pytest.mark.parametrize("text", ["(a or )", "(a or or b)", "(a or b or )"])
def test_an_alternative_that_is_missing_is_told(text: str) -> None:
    assert parse(text).error == "an alternative is missing after or"


def test_a_group_with_a_condition_that_can_never_hold_narrows_nothing() -> None:
    query = parse("router (used>abc or staging)").checked(KINDS)
    assert "expected a number" in query.error
    assert (words(query), groups(query)) == (("router",), [])


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
    query = parse(text).checked(KINDS)
    assert (query.error, len(terms(query))) == ("", 1)


@pytest.mark.parametrize("text", ["used > staging", "used >", "name = x", "-used > 5"])
def test_other_words_with_a_space_stay_words(text: str) -> None:
    assert not terms(parse(text))


def test_a_name_with_a_space_that_is_no_column_is_searched_word_by_word() -> None:
    query = parse("router > 5")
    assert query.unknown_columns(ROW) == ("router",)
    assert query.matches({}, "5 router\n> 7", NOW)
    assert not query.matches({}, "router 5", NOW)


@pytest.mark.parametrize(
    ("text", "hour", "shown"),
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
def test_days_have_names(text: str, hour: int, shown: bool) -> None:
    assert matches(text, created=NOW + timedelta(hours=hour)) is shown
    assert parse(text).checked(KINDS).error == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("name~^prod", True),
        ("name~^router", False),
        ("-name~^router", True),
        ('name~"production r"', True),
        ("~^near", True),
        ("~ROUTER$", True),
        ("~^router", False),
        ("-~^router", True),
        (r"~\$\d\d\.00$", True),
        ("limit~5", False),
    ],
)
def test_patterns_are_searched_in_a_column_or_in_every_cell(text: str, shown: bool) -> None:
    assert matches(text) is shown


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name~[a", "name~[a: unterminated character set"),
        ("~(a", "~(a: missing )"),
        ("limit~5", "limit~5: a pattern only matches text"),
        ("created~5", "a pattern only matches text"),
    ],
)
def test_a_pattern_that_is_none_is_an_error(text: str, says: str) -> None:
    query = parse(text).checked(KINDS)
    assert says in query.error
    assert query.fault.unfinished
    assert not query.parts


def test_a_heading_names_its_column() -> None:
    query = parse("left>5 all-time>=1 (p50-ms<9 or x)").checked(
        KINDS, {"left": "limit", "all_time": "used", "p50_ms": "context"}
    )
    assert [term.name for term in terms(query)] == ["limit", "used"]
    assert [one.name for one in query.conditions() if isinstance(one, Term)][2] == "context"
    assert query.unknown_columns(KINDS) == ()


_SIGNS = ["(", ")", " or ", " ", "-", "~", '"', "a", "\\", "used", "name", ">", ">= ", ":", "80%"]
_SIGNS += ["[", "yesterday", "none", "{2}", "*", "+", "|", "30d", "OR"]
PIECES = st.lists(st.sampled_from(_SIGNS), max_size=14).map("".join)


@given(st.text() | PIECES)
def test_no_input_raises(text: str) -> None:
    query = parse(text)
    assert isinstance(matches(text), bool)
    checked = query.checked(KINDS, {"left": "limit"})
    assert isinstance(checked.error, str)
    assert isinstance(query.reads_text(KINDS), bool)


def test_deep_parentheses_are_an_error_and_no_matter_of_time() -> None:
    for text in (
        "(" * 50_000,
        "( " * 20_000,
        "(a or " * 20_000,
        "-(" * 9_000 + "a or b" + ")" * 9_000,
    ):
        assert isinstance(parse(text).error, str)
    assert "at most 10 levels of parentheses" in parse("(a or " * 12 + "b" + ")" * 12).error


@given(st.lists(st.sampled_from(["router", "absent", "limit>5", "limit>500"]), min_size=2))
def test_a_group_is_the_disjunction_of_its_alternatives(parts: list[str]) -> None:
    assert matches(f"({' or '.join(parts)})") == any(matches(part) for part in parts)
