"""From an answer's JSON to contract models: tolerant with fields, strict about the envelope.

No local variable holds a part of the answer where an error is raised: reports of a crash could
show it, and the answer to a creation holds a key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from gwtui.client.call import Answer
from gwtui.client.errors import UnreadableAnswerError
from gwtui.contract.response import ResponseModel

ModelT = TypeVar("ModelT", bound=ResponseModel)


@dataclass(frozen=True, slots=True)
class Rows:
    """One page as it came: rows of any shape and the total, None when the answer has none."""

    rows: list[Any]
    total: int | None


def read_one(answer: Answer, model: type[ModelT]) -> ModelT:
    """The object in ``data``. Raises UnreadableAnswerError when there is none."""
    if not isinstance(_envelope(answer).get("data"), dict):
        raise _unreadable(answer, "its data is not an object")
    return model.model_validate(answer.json["data"])


def read_whole(answer: Answer, model: type[ModelT]) -> ModelT:
    """The whole answer as one object, for answers that carry more than ``data``."""
    return model.model_validate(_envelope(answer))


def read_rows(answer: Answer) -> Rows:
    """The list in ``data``. Raises UnreadableAnswerError when there is none."""
    if not isinstance(_envelope(answer).get("data"), list):
        raise _unreadable(answer, "its data is not a list")
    total = answer.json.get("total_count")
    is_count = isinstance(total, int) and not isinstance(total, bool) and total >= 0
    return Rows(answer.json["data"], total if is_count else None)


def confirm_deleted(answer: Answer) -> None:
    """Check that the gateway says it deleted. Raises UnreadableAnswerError otherwise."""
    if answer.json is None:
        return
    if _envelope(answer).get("deleted") is not True:
        raise _unreadable(answer, "it does not confirm the deletion")


def read_count(answer: Answer, name: str) -> int:
    """The count that confirms a bulk write. Raises UnreadableAnswerError when there is none."""
    count = _envelope(answer).get(name)
    if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
        return count
    raise _unreadable(answer, f"it has no {name}")


def _envelope(answer: Answer) -> dict[str, Any]:
    if isinstance(answer.json, dict):
        return answer.json
    raise _unreadable(answer, "it is not a JSON object")


def _unreadable(answer: Answer, why: str) -> UnreadableAnswerError:
    return UnreadableAnswerError(
        f"the answer is not what the API describes: {why}", request_id=answer.request_id
    )
