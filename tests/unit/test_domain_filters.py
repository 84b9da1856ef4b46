from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain.cells import SortValue, ValueKind
from gwtui.domain.filters import parse

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
    assert query.empty
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
    assert query.words == ("prod", "two words")
    assert query.excluded == ("not",)
    assert not query.empty
    assert parse(" ").empty


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
        ("created>soon", "expected a date such as 2026-11-01, or a distance such as 7d"),
        ("expires-at<xx", "expires-at<xx: expected a date"),
        ("created=yesterday", "expected a date"),
        ("created<2026-13-45", "expected a date"),
        ("created<none", "expected a date"),
        ("disabled:maybe", "disabled:maybe: expected yes or no, or none"),
        ("disabled>no", "use :, = or !="),
    ],
)
def test_what_can_never_hold_is_an_error_and_narrows_nothing(text: str, says: str) -> None:
    query = parse(text).checked(KINDS)
    assert says in query.error
    assert not query.terms
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
    assert query.checked(KINDS) is query


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
        ("router created<7", True),
    ],
)
def test_an_error_tells_whether_it_may_still_be_being_typed(text: str, unfinished: bool) -> None:
    query = parse(text).checked(KINDS)
    assert query.error
    assert query.unfinished is unfinished


def test_the_rest_of_a_query_with_an_error_still_narrows() -> None:
    query = parse("router used>abc limit>5").checked(KINDS)
    assert (query.words, [term.name for term in query.terms]) == (("router",), ["limit"])


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
