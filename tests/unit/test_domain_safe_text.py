# ruff: noqa: RUF001 - odd characters are the subject here
from __future__ import annotations

import unicodedata
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain.safe_text import (
    DEFAULT_LIMIT,
    ELLIPSIS,
    MARKS_IN_A_ROW,
    safe_characters,
    safe_line,
    safe_text,
)

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


@pytest.mark.parametrize(
    ("raw", "options", "expected"),
    [
        ("Production router", {}, "Production router"),
        ("Zürich – 東京 – Київ", {}, "Zürich – 東京 – Київ"),
        ("a\x00b", {}, "a␀b"),
        ("\x1b[31mred\x1b[0m", {}, "␛[31mred␛[0m"),
        ("\x1b]52;c;aGk=\x07", {}, "␛]52;c;aGk=␇"),
        ("tab\tcr\rlf\n", {}, "tab␉cr␍lf␊"),
        ("del\x7f", {}, "del␡"),
        ("c1\x9b31m", {}, "c1‹U+009B›31m"),
        ("evil\u202egpj.exe", {}, "evil‹U+202E›gpj.exe"),
        ("\u061c\u200e\u200f\u2066\u2069", {}, "‹U+061C›‹U+200E›‹U+200F›‹U+2066›‹U+2069›"),
        ("zero\u200bwidth\u2060\ufeff", {}, "zero‹U+200B›width‹U+2060›‹U+FEFF›"),
        ("line\u2028para\u2029", {}, "line‹U+2028›para‹U+2029›"),
        ("lone\ud800", {}, "lone‹U+D800›"),
        ("private\ue000", {}, "private‹U+E000›"),
        ("soft\u00adhyphen", {}, "soft‹U+00AD›hyphen"),
        ("tag\U000e0041\U000e007f", {}, "tag‹U+E0041›‹U+E007F›"),
        ("selector\ufe0f", {}, "selector‹U+FE0F›"),
        ("selector\U000e0100", {}, "selector‹U+E0100›"),
        ("hangul\u3164filler", {}, "hangul‹U+3164›filler"),
        ("blank\u2800braille", {}, "blank‹U+2800›braille"),
        ("10\u00a0000\u202f€", {}, "10 000 €"),
        ("全角\u3000空白", {}, "全角\u3000空白"),
        ("⚠\ufe0f ❤\ufe0f 1\ufe0f", {}, "⚠ ❤ 1"),
        ("👩\u200d💻", {}, "👩‹U+200D›💻"),
        ("[bold]markup[/bold]", {}, "[bold]markup[/bold]"),
        ("one\ntwo", {"newlines": True}, "one\ntwo"),
        ("one\r\ntwo\rthree", {"newlines": True}, "one\ntwo\nthree"),
        ("a\n\nb", {"newlines": True}, "a\n\nb"),
        ("\n\r\n", {"newlines": True}, "\n\n"),
        ("col\tumn", {"newlines": True}, "col    umn"),
        ("bell\x07", {"newlines": True}, "bell␇"),
        ("abcdef", {"limit": 6}, "abcdef"),
        ("abcdefg", {"limit": 6}, "abcde…"),
        ("abcdefg", {"limit": 1}, "…"),
        ("abc", {"limit": 0}, ""),
        ("ab\u202e", {"limit": 6}, "ab…"),
        ("\u202e\u202e", {"limit": 3}, "…"),
        ("ééééé", {"limit": 4}, "ééé…"),
        # Accents stay, towers of them do not, and none lands on what stands before the text.
        ("e\u0301", {}, "e\u0301"),
        ("\u1ebf", {}, "\u1ebf"),
        ("z" + "\u0301" * 300 + "algo", {}, "z" + "\u0301" * 4 + ELLIPSIS + "algo"),
        ("\u0301a", {}, "\u25cc\u0301a"),
        ("a\n\u0301", {"newlines": True}, "a\n\u25cc\u0301"),
        # Other values are told as text.
        (5, {}, "5"),
        (None, {}, "None"),
        (True, {}, "True"),
        (["a\n"], {}, "['a\\n']"),
    ],
)
def test_disturbing_characters_become_marks(
    raw: object, options: dict[str, Any], expected: str
) -> None:
    assert safe_text(raw, **options) == expected


def test_a_failing_str_does_not_raise() -> None:
    class Rude:
        def __str__(self) -> str:
            raise ValueError("no")

    class Sly(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "\x1b[2J"

    assert safe_text(Rude()) == "<Rude>"
    assert safe_text(Sly("\x07")) == "␇"
    assert safe_text(10**5000) == "<int>"


def test_a_line_has_no_runs_of_blanks() -> None:
    assert safe_line("  two \u00a0  words ") == "two words"


@given(ANY_TEXT, st.integers(0, 40), st.booleans())
def test_safe_text_contains_no_control_characters(raw: str, limit: int, newlines: bool) -> None:
    text = safe_text(raw, limit, newlines=newlines)
    assert len(text) <= limit
    for char in text:
        if newlines and char == "\n":
            continue
        assert unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}, char
    text.encode()


@given(ANY_TEXT)
def test_safe_text_is_unchanged(raw: str) -> None:
    once = safe_text(raw, 10_000)
    assert safe_text(once, 10_000) == once


@pytest.mark.parametrize("unit", ["\u202e", "\u0301", "\u2603\ufe0f", "\r\n", "\t"])
def test_the_work_is_bounded_by_the_limit(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0

    def counted(char: str) -> str:
        nonlocal looked_at
        looked_at += 1
        return unicodedata.category(char)

    monkeypatch.setattr("gwtui.domain.safe_text.unicodedata", SimpleNamespace(category=counted))
    text = safe_text("a" + unit * 100_000 + "b", newlines=True)
    assert len(text) <= DEFAULT_LIMIT
    assert text.endswith(ELLIPSIS)
    assert looked_at < 40 * DEFAULT_LIMIT


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("plain", "plain"),
        ("👩\u200d💻 ❤\ufe0f", "👩\u200d💻 ❤\ufe0f"),
        ("a\u200db", "a�b"),
        ("cafe\u0301", "cafe\u0301"),
        ("\u0301x", "�x"),
        ("a" + "\u0301" * 6, "a" + "\u0301" * MARKS_IN_A_ROW + "�" * (6 - MARKS_IN_A_ROW)),
        ("\x1b\u202e\n", "␛�␊"),
    ],
)
def test_safe_characters_keeps_the_length(raw: str, expected: str) -> None:
    assert safe_characters(raw) == expected
