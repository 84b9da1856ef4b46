"""What a generation read and wrote is shown as plain text; feedback on it is one request."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from typing import Any

import pytest

from gwtui.contract.request import field_rules
from gwtui.contract.usage import FeedbackRequest, GenerationContent
from gwtui.crud.fields import PlanContext
from gwtui.resources.generations import CATEGORIES, plan_feedback
from gwtui.ui.screens.objects import MOST, content_lines
from plan_kit import changes, single_request, text_of_plan
from resource_samples import HOSTILE

WIDTH = 60
NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)


def lines(data: dict[str, Any], width: int = WIDTH) -> list[str]:
    return [line.plain for line in content_lines(GenerationContent.model_validate(data), width)]


def text(data: dict[str, Any]) -> str:
    return "\n".join(lines(data))


def test_a_conversation_reads_from_top_to_bottom() -> None:
    result = lines(
        {
            "input": {
                "messages": [
                    {"role": "system", "content": "Be brief.\nAlways."},
                    {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
                ]
            },
            "output": {"completion": "Because.", "reasoning": "Hm."},
            "error": None,
        }
    )
    assert result == [
        "Input · system",
        "  Be brief.",
        "  Always.",
        "",
        "Input · user",
        "  Why?",
        "",
        "Reasoning",
        "  Hm.",
        "",
        "Output",
        "  Because.",
    ]


def test_prompts_errors_and_unknown_fields_are_shown() -> None:
    result = text(
        {
            "input": {
                "prompt": "Once upon a time",
                "temperature": 1,
                "messages": [
                    "odd",
                    {"role": "tool", "tool_call_id": "call_1", "content": None},
                    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
                ],
            },
            "output": {"completion": None, "reasoning": None},
            "error": {"message": "the provider left", "code": 502},
        }
    )
    for words in (
        "  Once upon a time",
        '"temperature": 1',
        "  odd",
        "call_1",
        "image_url",
        "Output\n  none",
        "Error\n  the provider left",
        '"code": 502',
    ):
        assert words in result


def test_missing_content_is_unknown() -> None:
    assert "Input\n  —" in text({})
    assert "Output\n  —" in text({"output": {}})
    assert "input: missing" in text({})


def test_long_texts_are_folded_and_bounded() -> None:
    result = lines({"input": {"prompt": "word " * 100_000}, "output": {"completion": "later"}})
    assert max(map(len, result)) <= WIDTH
    assert sum(map(len, result)) < MOST * 2
    assert result[-1] == "  (200,000 characters are shown)"
    assert "later" not in result


@pytest.mark.parametrize("place", ["prompt", "content", "role", "part", "output", "error", "rest"])
def test_hostile_text_stays_text(place: str) -> None:
    body = {
        "prompt": {"input": {"prompt": HOSTILE}},
        "content": {"input": {"messages": [{"role": "user", "content": HOSTILE}]}},
        "role": {"input": {"messages": [{"role": HOSTILE, "content": "x"}]}},
        "part": {"input": {"messages": [{"content": [{"type": "text", "text": HOSTILE}]}]}},
        "output": {"output": {"completion": HOSTILE, "reasoning": HOSTILE}},
        "error": {"error": {"message": HOSTILE}},
        "rest": {"input": {HOSTILE: [HOSTILE]}},
    }[place]
    result = content_lines(GenerationContent.model_validate(body), WIDTH)
    plain = "".join(line.plain for line in result)
    assert "[bold]x[/bold]" in plain.replace(" ", "")
    assert not {unicodedata.category(char) for char in plain} & {"Cc", "Cs", "Cf", "Zl", "Zp"}
    assert not any("bold]" in str(span.style) for line in result for span in line.spans)


# Feedback ---------------------------------------------------------------------------------------


async def test_feedback_is_one_request_and_the_journal_gets_no_comment() -> None:
    request = FeedbackRequest(
        generation_id="gen-1", category="incorrect_response", comment="It says 7, not 8."
    )
    plan = plan_feedback(request, PlanContext(NOW))
    assert await single_request(plan) == ("generations.give_feedback", request.wire_body())
    assert changes(plan)["What was wrong"] == (None, "incorrect response")
    assert changes(plan)["Comment"] == (None, "It says 7, not 8.")
    assert plan.summary == {"category": "incorrect_response", "commented": True}
    assert "gen-1" in text_of_plan(plan)


def test_every_category_has_words() -> None:
    assert set(CATEGORIES) == set(field_rules(FeedbackRequest)["category"].choices)
