# ruff: noqa: RUF001 - odd characters are the subject here
"""Every hostile text in every field of every response, in every view of it.

The texts pass through JSON, transport, contract model, feed, declaration and painted line. By
default, each field gets a different text in each of a few rounds, so that every text meets every
kind of sink; ``GWTUI_FULL=1`` combines every text with every field.
"""

from __future__ import annotations

import json
import re
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import pytest
import pytest_asyncio
from hostile_gateway import Poison, Recording, Spoilt
from hostile_sinks import ShownText, Subject, SubjectReading, dangerous, look, subjects
from hostile_strings import CORPUS, HUGE, SMALL

from gwtui.client.errors import GatewayError
from gwtui.domain.safe_text import ELLIPSIS
from thoroughness import FULL

ROUNDS = 4
"""Rounds by default, each with a different text for each field."""
START = 12
"""Number of leading characters whose readable part must be visible wherever the text is."""
TOKEN = re.compile(r"Zq(\d+)q")
UNREADABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs", "Mn", "Me", "Mc"})
BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\ufffd")
MARKS = re.compile("‹U\\+[0-9A-F]{4,6}›|[\u2400-\u2426]|…|◌")

WORDS = frozenset({"daily", "weekly", "monthly"})

Field = tuple[str, str]
"""A field's name and its original text."""

pytestmark = pytest.mark.asyncio(loop_scope="module")


@cache
def essence(text: str) -> str:
    """The readable part of a text, without white space, invisible characters and escapes."""
    return "".join(
        char
        for char in MARKS.sub("", text)
        if unicodedata.category(char) not in UNREADABLE and char not in BLANK
    )


@dataclass
class PoisonedAccount:
    recording: Recording
    subjects: Sequence[Subject]
    fields: list[Field] = field(default_factory=list)
    """Every field that was poisoned."""
    shown_at: dict[str, dict[tuple[str, str], set[int]]] = field(default_factory=dict)
    """Indices in ``fields`` of the fields that each place of each subject shows."""
    used: set[str] = field(default_factory=set)
    """Names of the texts in use."""


def without_row_number(shown: ShownText) -> tuple[str, str]:
    """A place without its row number, because a text may move a row."""
    return shown.sink, re.sub(r"\b\d+\b", "", shown.place)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def account() -> AsyncIterator[PoisonedAccount]:
    recording = Recording()
    poisoned_account = PoisonedAccount(recording, tuple(subjects(await recording.parents())))

    def token(name: str, value: str) -> str:
        if (name, value) not in poisoned_account.fields:
            poisoned_account.fields.append((name, value))
        return f"Zq{poisoned_account.fields.index((name, value))}q"

    reading: list[Subject] = []
    for subject in poisoned_account.subjects:
        poison = Poison(token)

        spoilt = Spoilt(recording, poison)
        result = await look(subject, spoilt, poison.address)
        if not spoilt.served:
            continue  # made of local data, which test_hostile_texts covers
        assert not result.errors, subject.name
        actual: dict[tuple[str, str], set[int]] = defaultdict(set)
        for shown in result.shown:
            if shown.sink not in {"painted", "pane", "filter", "copied"}:
                actual[without_row_number(shown)].update(map(int, TOKEN.findall(shown.text)))
        reading.append(subject)
        poisoned_account.shown_at[subject.name] = {
            place_key: fields for place_key, fields in actual.items() if fields
        }
    poisoned_account.subjects = tuple(reading)
    yield poisoned_account
    recording.close()


async def poisoned(account: PoisonedAccount, subject: Subject, poison: Poison) -> SubjectReading:
    spoilt = Spoilt(account.recording, poison, poison.real)
    result = await look(subject, spoilt, poison.address)
    for shown in result.shown:
        if shown.sink != "facet":
            characters = dangerous(shown.text)
            assert not characters, (
                f"{subject.name} {shown.sink} {shown.place}: {characters!r} in {shown.text!r}"
            )
    return result


def assert_readable(
    account: PoisonedAccount, subject: Subject, result: SubjectReading, text: Callable[[Field], str]
) -> None:
    """The readable part of each text is shown wherever its field is shown."""
    by_place: dict[tuple[str, str], list[str]] = defaultdict(list)
    for shown in result.shown:
        by_place[without_row_number(shown)].append(shown.text)
    for place, numbers in account.shown_at[subject.name].items():
        for number in numbers:
            start = text(account.fields[number])[:START]
            if start in WORDS or account.fields[number][1].startswith(start):
                continue  # a value of the contract may have a display name
            if place[0] == "raw":
                start = json.dumps(start, ensure_ascii=False)[1:-1]
            # A truncated text may end before what follows another text.
            assert any(
                ELLIPSIS in item or essence(start) in essence(item) for item in by_place[place]
            ), f"{subject.name} {place}: {account.fields[number]} lost {start!r}: {by_place[place]}"


def text_chooser(
    account: PoisonedAccount, round_: int, names: Sequence[str]
) -> Callable[[str, str], str]:
    """The next text for each field, continuing where the previous round ended."""

    def text(name: str, value: str) -> str:
        is_known = (name, value) in account.fields
        number = account.fields.index((name, value)) if is_known else zlib.crc32(value.encode())
        text = names[(number + round_ * len(account.fields)) % len(names)]
        account.used.add(text)
        return CORPUS[text]

    return text


@pytest.mark.parametrize("round_", range(ROUNDS))
async def test_every_field_shows_its_hostile_text_safely(
    account: PoisonedAccount, round_: int
) -> None:
    names = tuple(SMALL)
    text = text_chooser(account, round_, names)
    strange = SMALL[names[round_ * 31 % len(names)]]
    for subject in account.subjects:
        result = await poisoned(account, subject, Poison(text, strange=strange))
        assert not result.errors
        assert_readable(account, subject, result, lambda item: text(*item))


DEEP = tuple(SMALL) if FULL else tuple(SMALL)[::83]


@pytest.mark.parametrize("name", DEEP)
async def test_hostile_ids_times_and_numbers_give_typed_errors(
    account: PoisonedAccount, name: str
) -> None:
    """Followed where possible; otherwise the error is a typed one."""
    text = SMALL[name]
    for subject in account.subjects:
        poison = Poison(lambda *_: text, prefix=text, deep=True, strange=text)
        result = await poisoned(account, subject, poison)
        assert all(isinstance(error, GatewayError) for error in result.errors)


@pytest.mark.parametrize("name", HUGE if FULL else tuple(HUGE)[2:6])
async def test_huge_texts_are_shown_safely(account: PoisonedAccount, name: str) -> None:
    """In a few fields of each response, because all of them would take too long."""
    subject = account.subjects[list(HUGE).index(name) % len(account.subjects)]

    def text(field_name: str, value: str) -> str:
        is_replaced = FULL or zlib.crc32(field_name.encode()) % 4 == 0 or field_name == "name"
        return HUGE[name] if is_replaced else value

    for item in account.subjects if FULL else (subject, account.subjects[0]):
        result = await poisoned(account, item, Poison(text))
        assert not result.errors
        assert_readable(account, item, result, lambda row: text(*row))


@pytest.mark.skipif(not FULL, reason="every combination: GWTUI_FULL=1")
@pytest.mark.parametrize("name", SMALL if FULL else ())
async def test_every_text_in_every_field_is_shown_safely(
    account: PoisonedAccount, name: str
) -> None:
    for subject in account.subjects:
        result = await poisoned(
            account, subject, Poison(lambda *_: SMALL[name], strange=SMALL[name])
        )
        assert not result.errors
        assert_readable(account, subject, result, lambda _: SMALL[name])


async def test_every_poisoned_field_is_shown(account: PoisonedAccount) -> None:
    shown = {
        number
        for places in account.shown_at.values()
        for place in places
        for number in places[place]
    }
    names = {name for name, _ in account.fields}
    results = {account.fields[number][0] for number in shown}
    assert names == results, names - results
    assert not account.used or account.used >= SMALL.keys()
    assert len(set(CORPUS.values())) == len(CORPUS) >= 200
