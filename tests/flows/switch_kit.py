"""Profiles for tests, each with its own gateway; some cannot be opened."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from gwtui.client.connection import Connection
from gwtui.local.targets import Target, TargetInfo, Targets
from harness import Harness


class SomeTargets(Targets):
    """Gateways by the facts of their profiles; ``problems`` are raised for the others."""

    def __init__(
        self,
        places: Sequence[tuple[TargetInfo, Harness]],
        problems: Mapping[str, Exception] | None = None,
    ) -> None:
        super().__init__(Path("nowhere"))
        self._places = {facts.name: (facts, place) for facts, place in places}
        self._problems = problems or {}
        self.closed: list[str] = []

    def known(self) -> tuple[TargetInfo, ...]:
        unavailable = (TargetInfo(name, "elsewhere", "keyring") for name in self._problems)
        return (*(facts for facts, _ in self._places.values()), *unavailable)

    async def find(self, name: str) -> Target:
        if name in self._problems:
            raise self._problems[name]
        if name not in self._places:
            return await super().find(name)
        facts, place = self._places[name]
        connection = connection_to(place, facts)

        @asynccontextmanager
        async def connect() -> AsyncIterator[Connection]:
            try:
                yield connection
            finally:
                self.closed.append(facts.name)

        return Target(facts, connect)


def connection_to(place: Harness, facts: TargetInfo) -> Connection:
    return Connection(
        f"http://{facts.where}/api/v1",
        SecretStr(place.token),
        socket_path=place.socket,
        read_only=facts.read_only,
        critical=facts.critical,
        label=facts.name,
        token_source=facts.key_from,
    )
