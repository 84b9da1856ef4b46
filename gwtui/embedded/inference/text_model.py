"""The text model behind every chat endpoint: small, and the same answer for the same input.

A Markov chain of words over the text in ``voice.txt``, begun with words of the prompt: its answers
mean nothing. Tokens are pieces of up to six letters; prompts and answers are counted alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from pydantic import JsonValue

from gwtui.embedded.simulator.seeded_random import fraction, hex_text, number, pick
from gwtui.lazy_dataclass import dataclass

_PIECE = re.compile(r"\s*(?:\w{1,6}|[^\w\s])|\s+")
_WORD = re.compile(r"[^\W\d_]{4,24}")
_SENTENCE_END = (".", "!", "?")
_SHORTEST, _LONGEST = 30, 150
"""Tokens of an answer, as far as nobody asks for fewer."""
_KEYWORDS = 3
_DEEPEST = 6
"""Levels of an object that is made up from a JSON schema."""

MESSAGE_TOKENS = 4
"""What a message takes beside its text."""
PROMPT_TOKENS = 3
IMAGE_TOKENS = 258
SOUND_TOKENS = 120
FILE_TOKENS = 300


def pieces(text: str) -> list[str]:
    """The tokens of a text; joined they are the text."""
    return _PIECE.findall(text)


def count(text: str) -> int:
    """How many tokens a text has."""
    return sum(1 for _ in _PIECE.finditer(text))


def count_inside(value: JsonValue) -> int:
    """Tokens of every name and value of a JSON value."""
    if isinstance(value, dict):
        return sum(count(name) + count_inside(part) for name, part in value.items())
    if isinstance(value, list):
        return sum(map(count_inside, value))
    return count(value if isinstance(value, str) else str(value))


@dataclass(frozen=True)
class Question:
    """What the model is asked: the texts of the conversation, and what decides how it answers."""

    model: str
    texts: tuple[str, ...]
    seed: int | None = None
    schema: Mapping[str, Any] | None = None
    """A JSON schema that the answer is to keep; an empty one is any object."""

    @property
    def last(self) -> str:
        """What was said last."""
        return self.texts[-1] if self.texts else ""

    @cached_property
    def parts(self) -> tuple[object, ...]:
        """What the random choices depend on."""
        return (hex_text(32, 0, self.model, *self.texts),)

    @property
    def chance_seed(self) -> int:
        """The seed of the random choices in its answer."""
        return self.seed or 0


def answer(question: Question) -> str:
    """The whole answer."""
    if question.schema is not None:
        return json.dumps(_example(question.schema, question, "answer", 0))
    begun = _opening(question)
    length = _SHORTEST + number(question.chance_seed, "length", *question.parts) % (
        _LONGEST - _SHORTEST
    )
    return f"{begun} {_chain(question, 'answer', length - count(begun))}".strip()


def thoughts(question: Question, tokens: int) -> str:
    """What a model that reasons thinks first, of exactly so many tokens."""
    text = _chain(question, "thoughts", tokens)
    return "".join(pieces(text)[:tokens])


def arguments(question: Question, schema: Mapping[str, Any] | None) -> str:
    """Arguments of a function, as JSON text, that keep its schema as far as it is a plain one."""
    return json.dumps(_example(schema or {"type": "object"}, question, "arguments", 0))


def _opening(question: Question) -> str:
    """Says what was asked, so that different questions get different answers."""
    words: dict[str, None] = dict.fromkeys(
        word.group().lower() for word in _WORD.finditer(question.last)
    )
    rare = sorted(words, key=lambda word: (word in _known_words(), -len(word)))[:_KEYWORDS]
    if not rare:
        return "This is a simulated answer."
    about = rare[0] if len(rare) == 1 else f"{', '.join(rare[:-1])} and {rare[-1]}"
    return f"This is a simulated answer about {about}."


def _chain(question: Question, purpose: str, tokens: int) -> str:
    """About so many tokens of text, to the end of a sentence."""
    follow = _follow()
    first = _start(question, purpose)
    said = [*first]
    pair, spent, step = first, count(" ".join(first)), 0
    while spent < tokens or not said[-1].endswith(_SENTENCE_END):
        word = pick(follow[pair], question.chance_seed, purpose, step, *question.parts)
        said.append(word)
        spent += count(f" {word}")
        pair, step = (pair[1], word), step + 1
        if spent > 2 * tokens + _LONGEST:
            break
    return " ".join(said)


def _start(question: Question, purpose: str) -> tuple[str, str]:
    """The first two words of a sentence, if possible of one that has a word of the question."""
    words = frozenset(word.group().lower() for word in _WORD.finditer(question.last))
    fitting = [pair for pair, known in _starts() if known & words]
    choices = fitting or [pair for pair, _ in _starts()]
    return pick(choices, question.chance_seed, "start", purpose, *question.parts)


@cache
def _text() -> str:
    return files(__package__).joinpath("voice.txt").read_text(encoding="utf-8")


@cache
def _follow() -> Mapping[tuple[str, str], Sequence[str]]:
    """Which words follow each pair; after the last word comes the first."""
    words = _text().split()
    follow: dict[tuple[str, str], list[str]] = {}
    for first, second, third in zip(
        words, [*words[1:], words[0]], [*words[2:], *words[:2]], strict=True
    ):
        follow.setdefault((first, second), []).append(third)
    return follow


@cache
def _starts() -> Sequence[tuple[tuple[str, str], frozenset[str]]]:
    """The first two words of every sentence, with its words."""
    found = []
    for sentence in re.split(r"(?<=[.!?])\s+", _text()):
        words = sentence.split()
        if len(words) > 1:
            known = frozenset(word.group().lower() for word in _WORD.finditer(sentence))
            found.append(((words[0], words[1]), known))
    return found


@cache
def _known_words() -> frozenset[str]:
    return frozenset(word.group().lower() for word in _WORD.finditer(_text()))


def _example(schema: Mapping[str, Any], question: Question, name: str, depth: int) -> JsonValue:
    """A value that keeps a plain schema: type, properties, items, enum and const."""
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(choices, list) and choices:
        return _any_of(choices, question.chance_seed, name, *question.parts)
    kind = schema.get("type", "object" if depth == 0 else "string")
    if isinstance(kind, list):
        kind = next(iter(kind), "null")
    if kind == "null" or depth >= _DEEPEST:
        return None
    if kind == "object":
        return _object_example(schema, question, depth)
    if kind == "array":
        items = schema.get("items")
        plain = items if isinstance(items, dict) else {}
        return [_example(plain, question, f"{name}.item", depth + 1)]
    return _plain_example(kind, question, name)


def _any_of(choices: list[JsonValue], chance_seed: int, *parts: object) -> JsonValue:
    return pick(choices, chance_seed, *parts)


def _plain_example(kind: str, question: Question, name: str) -> JsonValue:
    match kind:
        case "integer":
            return number(question.chance_seed, name, *question.parts) % 100
        case "number":
            return round(fraction(question.chance_seed, name, *question.parts) * 100, 2)
        case "boolean":
            return number(question.chance_seed, name, *question.parts) % 2 == 0
        case _:
            return " ".join(_start(question, name))


def _object_example(schema: Mapping[str, Any], question: Question, depth: int) -> JsonValue:
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        return {"answer": _opening(question)} if depth == 0 else {}
    return {
        name: _example(part if isinstance(part, dict) else {}, question, name, depth + 1)
        for name, part in properties.items()
    }


def stopped(text: str, stops: Iterable[str]) -> tuple[str, bool]:
    """The text up to the first of the stop texts, and whether there was one."""
    found = [place for stop in stops if stop and (place := text.find(stop)) >= 0]
    return (text[: min(found)], True) if found else (text, False)
