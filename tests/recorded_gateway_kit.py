"""A small handmade gateway for the recorder, and an executor without threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.client.paging import Listing
from gwtui.contract.dialects import GENERIC
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.models import ModelEndpoints
from gwtui.contract.usage import ActivityRow, Credits
from gwtui.contract.workspaces import Budget
from resource_samples import endpoint_body, key, model, model_endpoints, workspace

MODEL = "aurora/glass-2"


class Inline(Executor):
    """Runs work at once in the calling thread, while time stands still."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future


def listing(items: Sequence[Any]) -> Listing[Any]:
    return Listing(tuple(items), len(items), complete=True)


class World:
    """A small handmade gateway; ``faults`` names what fails, and how."""

    def __init__(self) -> None:
        self.reads: list[str] = []
        self.faults: dict[str, GatewayError] = {}
        self.credits = {"total_credits": Decimal(100), "total_usage": Decimal(40)}
        self.keys = [key()]
        self.budgets = [Budget.model_validate({"limit_usd": 30, "reset_interval": "weekly"})]
        self.guardrails = [self.guardrail()]
        self.endpoints: ModelEndpoints | None = model_endpoints(endpoint_body())
        self.activity = [ActivityRow.model_validate({"model": MODEL, "requests": 9})]

    @staticmethod
    def guardrail(**changes: Any) -> Guardrail:
        return Guardrail.model_validate(
            {
                "id": "g1",
                "name": "strict",
                "allowed_models": None,
                "content_filters": [{"pattern": "Project Falcon", "action": "block"}],
                **changes,
            }
        )

    def client(self) -> Any:
        async def answer(what: str, value: Callable[[], Any]) -> Any:
            self.reads.append(what)
            if what in self.faults:
                raise self.faults[what]
            return value()

        def service(**reads: Callable[..., Any]) -> Any:
            return SimpleNamespace(**reads)

        def endpoints() -> ModelEndpoints:
            if self.endpoints is None:
                raise NotFoundError("no such model", status=404)
            return self.endpoints

        spaces = [workspace()]
        return service(
            connection=SimpleNamespace(
                history=None,
                dialect=GENERIC,
                token="t",
                label="work",
                base_url="https://gateway.example/api/v1",
            ),
            credits=service(
                get=lambda: answer("credits", lambda: Credits.model_validate(self.credits))
            ),
            workspaces=service(
                list=lambda: answer("workspaces", lambda: listing(spaces)),
                members=lambda _id: answer("members", lambda: listing([])),
                budgets=lambda _id: answer("budgets", lambda: listing(self.budgets)),
            ),
            keys=service(list=lambda **_: answer("keys", lambda: listing(self.keys))),
            guardrails=service(
                list=lambda **_: answer("guardrails", lambda: listing(self.guardrails))
            ),
            catalog=service(
                endpoints=lambda _id: answer("endpoints", endpoints),
                models=lambda: answer("models", lambda: listing([model(id=MODEL)])),
                zdr_endpoints=lambda: answer("zdr", lambda: listing([])),
            ),
            providers=service(list=lambda: answer("providers", lambda: listing([]))),
            activity=service(list=lambda: answer("activity", lambda: listing(self.activity))),
        )
