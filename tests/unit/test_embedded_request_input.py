"""How the embedded gateway reads model requests: tokens, texts and vectors."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gwtui.contract.chat import ChatRequest
from gwtui.contract.embeddings import EmbeddingRequest
from gwtui.domain.pricing import max_prompt_tokens
from gwtui.embedded.inference.answers import vector
from gwtui.embedded.inference.request_input import (
    parse_chat,
    parse_embedding,
    tokens_of,
    with_texts,
)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=200)


@given(TEXTS)
def test_the_tokens_of_a_text_are_the_text(text: str):
    assert "".join(tokens_of(text)) == text
    assert len(tokens_of(text)) <= len(text.encode())


@given(st.lists(TEXTS, min_size=1, max_size=4), st.booleans())
@settings(max_examples=60)
def test_no_prompt_has_more_tokens_than_its_bound(texts: list[str], tools: bool):
    described = {"type": "object", "properties": {name: {"type": "string"} for name in texts}}
    body = {
        "model": "acme/one",
        "messages": [{"role": "user", "content": text} for text in texts],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": described}}]
        if tools
        else None,
    }
    request = ChatRequest.model_validate(body)
    most = max_prompt_tokens(request)
    assert most is not None
    assert parse_chat(request, None).prompt_tokens <= most


def test_other_texts_take_the_place_of_the_first_everywhere():
    body = {
        "model": "acme/one",
        "messages": [
            {"role": "system", "content": "one"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "two"},
                    {"type": "image_url", "image_url": {"url": "u"}},
                    {"type": "text", "text": "three"},
                ],
            },
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "user", "content": "four"},
        ],
    }
    parsed = parse_chat(ChatRequest.model_validate(body), None)
    other = with_texts(parsed, ["1", "2", "3", "4"])
    assert [text.text for text in other.texts] == ["1", "2", "3", "4"]
    first, second, third, fourth = other.logged["messages"]
    assert (first["content"], fourth["content"], third["content"]) == ("1", "4", None)
    assert [part.get("text") for part in second["content"]] == ["2", None, "3"]
    assert with_texts(parsed, ["one", "two", "three", "four"]) is parsed


@pytest.mark.parametrize(
    ("given_input", "expected"),
    [
        ("a", "1"),
        (["a", "b"], ["1", "2"]),
        ([{"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}], ["1"]),
        ([7, 8], ["1"]),
    ],
)
def test_other_inputs_take_the_place_of_the_first(given_input: object, expected: object):
    request = EmbeddingRequest.model_validate({"model": "acme/v", "input": given_input})
    parsed = parse_embedding(request)
    replaced = with_texts(parsed, [str(number + 1) for number in range(len(parsed.texts))])
    assert replaced.logged == {"prompt": expected}


@pytest.mark.parametrize(
    ("given_input", "texts", "prompt_tokens"),
    [
        ("one two", 1, 2),
        (["one", "two three"], 2, 3),
        ([1, 2, 3_000_000_000], 1, 3),
        ([[1, 2], [3]], 2, 3),
        ([{"content": [{"type": "text", "text": "one two"}]}], 1, 2),
    ],
)
def test_inputs_of_embeddings(given_input: object, texts: int, prompt_tokens: int):
    request = EmbeddingRequest.model_validate({"model": "acme/v", "input": given_input})
    parsed = parse_embedding(request)
    assert (len(parsed.texts), parsed.prompt_tokens) == (texts, prompt_tokens)


def test_tokens_by_number_have_vectors_of_their_own():
    def of(tokens: list[int]) -> list[float]:
        request = EmbeddingRequest.model_validate({"model": "acme/v", "input": tokens})
        return vector(parse_embedding(request).texts[0].text)

    def similarity(left: list[float], right: list[float]) -> float:
        return sum(x * y for x, y in zip(left, right, strict=True))

    base, similar, different = of([1, 2, 3, 4]), of([1, 2, 3, 5]), of([91, 92, 93, 94])
    assert similarity(base, similar) > similarity(base, different) + 0.3


@given(TEXTS, st.integers(1, 64))
@settings(max_examples=60)
def test_every_vector_has_length_one(text: str, dimensions: int):
    result = vector(text, dimensions)
    assert len(result) == dimensions
    assert math.isclose(sum(value * value for value in result), 1, abs_tol=1e-9)
