"""Responses that break the contract: a wrong field is marked, a broken one is a typed error.

Every place of the response of every GET operation is dropped, nulled, retyped and extended, one at
a time. The client must keep the rest and mark the gap; every list and screen that reads the
operation must still show something. By default, a seeded sample runs; ``GWTUI_FULL=1`` runs every
mutation of every place.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from hostile_gateway import DROPPED, Path, Recording, Spoilt, places, replaced
from hostile_sinks import Subject, dangerous, look, subjects

from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.client.paging import Listing
from gwtui.contract.response import MISSING, ResponseModel
from gwtui.embedded.operations import PATH_PARAMETER
from gwtui.embedded.routes import all_operations
from thoroughness import FULL

SEED = 20261121
READ_SAMPLE = 1200
SHOWN_SAMPLE = 100

pytestmark = pytest.mark.asyncio(loop_scope="module")

ReadCall = Callable[[GatewayClient, Mapping[str, str]], Awaitable[Any]]

HAND_WRITTEN: Mapping[str, ReadCall] = {
    "/activity": lambda c, _: c.activity.list(by_workspace=True),
    "/byok": lambda c, a: c.byok.list(workspace_id=a["workspace"]),
    "/byok/{id}": lambda c, a: c.byok.get(a["byok"]),
    "/credits": lambda c, _: c.credits.get(),
    "/endpoints/zdr": lambda c, _: c.catalog.zdr_endpoints(),
    "/generation": lambda c, a: c.generations.get(a["generation"]),
    "/generation/content": lambda c, a: c.generations.content(a["generation"]),
    "/guardrails": lambda c, a: c.guardrails.list(workspace_id=a["workspace"]),
    "/guardrails/assignments/keys": lambda c, _: c.guardrails.key_assignments(None),
    "/guardrails/assignments/members": lambda c, _: c.guardrails.member_assignments(None),
    "/guardrails/{id}": lambda c, a: c.guardrails.get(a["guardrail"]),
    "/guardrails/{id}/assignments/keys": lambda c, a: c.guardrails.key_assignments(a["guardrail"]),
    "/guardrails/{id}/assignments/members": lambda c, a: c.guardrails.member_assignments(
        a["guardrail"]
    ),
    "/key": lambda c, _: c.keys.current(),
    "/keys": lambda c, a: c.keys.list(workspace_id=a["workspace"]),
    "/keys/{hash}": lambda c, a: c.keys.get(a["key"]),
    "/model/{author}/{slug}": lambda c, a: c.catalog.model(a["model"]),
    "/models": lambda c, _: c.catalog.models(),
    "/models/count": lambda c, _: c.catalog.count(),
    "/models/user": lambda c, _: c.catalog.user_models(),
    "/models/{author}/{slug}/endpoints": lambda c, a: c.catalog.endpoints(a["model"]),
    "/organization/members": lambda c, _: c.organization.members(),
    "/organization/settings": lambda c, _: c.organization.settings(),
    "/providers": lambda c, _: c.providers.list(),
    "/workspaces": lambda c, _: c.workspaces.list(),
    "/workspaces/{id}": lambda c, a: c.workspaces.get(a["workspace"]),
    "/workspaces/{id}/budgets": lambda c, a: c.workspaces.budgets(a["workspace"]),
    "/workspaces/{id}/budgets/{interval}": lambda c, a: c.workspaces.budget(
        a["workspace"], a["interval"]
    ),
    "/workspaces/{id}/members": lambda c, a: c.workspaces.members(a["workspace"]),
}
NOT_READ = {"/openapi.json"}
PLAIN = {
    operation.path: operation.path.split("/")[1]
    for operation in all_operations()
    if operation.method == "GET" and operation.path not in {*HAND_WRITTEN, *NOT_READ}
}
"""Path -> the resource that it lists or reads."""


def _plain_read(path: str, resource: str) -> ReadCall:
    if "{" in path:
        return lambda c, a: getattr(c, resource).get(a[resource])
    return lambda c, _: getattr(c, resource).list()


READS = {**HAND_WRITTEN, **{path: _plain_read(path, PLAIN[path]) for path in PLAIN}}
READABLE = (Listing, ResponseModel)

_HUGE_NUMBER = 10**400
_DEEP: Any = "x"
for _ in range(20):
    _DEEP = [{"a": _DEEP}]

RETYPED: tuple[Any, ...] = (
    "",
    "text",
    "5",
    "\ud800\x1b[2J",
    0,
    -1,
    1.5,
    True,
    False,
    _HUGE_NUMBER,
    -_HUGE_NUMBER,
    2**63,
    1e308,
    -1e308,
    5e-324,
    float("nan"),
    float("inf"),
    "1e999999",
    "9999-12-31T23:59:59.999999Z",
    "0001-01-01T00:00:00+14:00",
    "2026-02-30T00:00:00Z",
    [],
    [None],
    [[]],
    ["a", 1, None, {}],
    {},
    {"a": 1},
    {"": None},
    _DEEP,
)


def kinds(value: Any) -> Iterator[tuple[str, Any]]:
    """The mutations of a value, by name."""
    yield "drop", DROPPED
    yield "null", None
    yield from ((f"retype {number}", new) for number, new in enumerate(RETYPED))
    if isinstance(value, dict):
        yield "extend", {**value, "surprise": {"\x1b[31m": [1, None]}, "": 0}
    if isinstance(value, list):
        yield "extend", [*value, None, 1, "x", [], {}, *value]
        yield (
            "mix",
            [part for pair in zip(value, [None] * len(value), strict=True) for part in pair],
        )


Mutation = tuple[Path, str, Any]


def mutations(answer: Any) -> list[Mutation]:
    return [
        (path, kind, new)
        for path, value in ((((), answer)), *places(answer))
        for kind, new in kinds(value)
        if path or new is not DROPPED
    ]


def mutated(answer: Any, mutation: Mutation) -> Any:
    path, _, new = mutation
    return replaced(answer, path, new) if path else new


@dataclass
class RecordedAccount:
    recording: Recording
    anchors: Mapping[str, str]
    subjects: Sequence[Subject]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def account() -> AsyncIterator[RecordedAccount]:
    recording = Recording()
    parents = await recording.parents()
    space = parents["workspaces"]

    async def first_value(target: str, name: str) -> str:
        _, answer = await recording.answer(target)
        return str(answer["data"][0][name])

    anchors = {
        "workspace": space,
        "model": parents["models"],
        "generation": parents["generation"],
        "key": await first_value(f"/keys?workspace_id={space}", "hash"),
        "byok": await first_value(f"/byok?workspace_id={space}", "id"),
        "guardrail": await first_value(f"/guardrails?workspace_id={space}", "id"),
        "interval": await first_value(f"/workspaces/{space}/budgets", "reset_interval"),
    }
    for path, resource in PLAIN.items():
        for name in PATH_PARAMETER.findall(path):
            anchors[resource] = await first_value(f"/{resource}", name)
    yield RecordedAccount(recording, anchors, tuple(subjects(parents)))
    recording.close()


# The client -------------------------------------------------------------------------------------


def sample(items: Sequence[Any], limit: int, salt: str) -> Sequence[Any]:
    if FULL or len(items) <= limit:
        return items
    return random.Random(f"{SEED} {salt}").sample(items, limit)


def models_of(result: Any) -> tuple[ResponseModel, ...]:
    if isinstance(result, Listing):
        return tuple(result.items)
    return (result,) if isinstance(result, ResponseModel) else ()


def assert_rest_is_kept(original: Any, altered: Any, mutation: Mutation) -> None:
    """Every other field of every other row is unchanged; a lost field is marked."""
    path, kind, _ = mutation
    old, new = models_of(original), models_of(altered)
    in_list = isinstance(original, Listing)
    depth = 2 if in_list else 1
    if len(path) <= depth or path[0] != "data":
        return
    row, name = (path[1], path[2]) if in_list else (0, path[1])
    assert len(old) == len(new)
    for number, (old_row, new_row) in enumerate(zip(old, new, strict=True)):
        for field in type(old_row).model_fields:
            if number != row or field != name:
                assert getattr(old_row, field) == getattr(new_row, field), (field, mutation)
    if len(path) == depth + 1 and kind in {"drop", "null"}:
        promised = dict(type(new[0])._promised())
        assert isinstance(row, int)
        gap = new[row].gaps.get(str(name))
        if kind == "drop" and name in promised:
            assert gap == MISSING, mutation
        if kind == "null" and promised.get(str(name)) is False:
            assert gap is not None, mutation


@pytest.mark.parametrize("operation", READS)
async def test_the_client_keeps_every_other_field(account: RecordedAccount, operation: str) -> None:
    read = READS[operation]
    answers: list[Any] = []
    expected: list[Any] = []

    def change(path: str, answer: Any) -> Any:
        if path != operation:
            return answer
        answers.append(answer)
        return mutated(answer, expected[0]) if expected else answer

    client = Spoilt(account.recording, change).client()
    try:
        original = await read(client, account.anchors)
        all_mutations = mutations(answers[0])
        for mutation in sample(all_mutations, READ_SAMPLE // len(READS), operation):
            expected[:] = [mutation]
            try:
                altered = await read(client, account.anchors)
            except GatewayError:
                # Only if no row or object is left to show.
                assert len(mutation[0]) <= 1 or not isinstance(original, READABLE), mutation
                continue
            assert_rest_is_kept(original, altered, mutation)
    finally:
        await client.close()


# What is shown ----------------------------------------------------------------------------------


NAMES = tuple(subject.name for subject in subjects({"generation": ""}))


@pytest.mark.timeout(1800 if FULL else 120)
@pytest.mark.parametrize("name", NAMES)
async def test_malformed_responses_are_shown_safely(account: RecordedAccount, name: str) -> None:
    subject = next(item for item in account.subjects if item.name == name)
    responses: dict[str, Any] = {}

    def record(path: str, answer: Any) -> Any:
        return responses.setdefault(path, answer)

    await look(subject, Spoilt(account.recording, record), str)
    possible = [(path, item) for path, answer in responses.items() for item in mutations(answer)]
    for operation, mutation in sample(possible, SHOWN_SAMPLE // len(NAMES), name):
        try:
            result = await look(
                subject, Spoilt(account.recording, breaking(operation, mutation)), str
            )
        except Exception as error:
            error.add_note(f"{name}: {operation} {mutation}")
            raise
        for shown in result.shown:
            if shown.sink != "facet":
                assert not dangerous(shown.text), (name, operation, mutation, shown)


def breaking(operation: str, mutation: Mutation) -> Callable[[str, Any], Any]:
    """Break every response of an operation at one place."""

    def change(path: str, answer: Any) -> Any:
        try:
            return mutated(answer, mutation) if path == operation else answer
        except (KeyError, IndexError, TypeError):
            return answer  # the same operation for a resource with fewer parts

    return change
