"""Where marked secrets are used: a gateway whose keys are marked, a log of everything."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from sentinels import MARKED

from gwtui.contract.dialects import Dialect
from gwtui.embedded.auth import MintedKey, key_hash
from gwtui.local.log import open_log


@dataclass
class Minter:
    """Makes keys of the marked values; ordinary ones differ from each other at their end."""

    numbers: Iterator[int] = field(default_factory=count)

    def __call__(
        self, _dialect: Dialect, *, management: bool, body: str | None = None
    ) -> MintedKey:
        assert body is None, "the demo's key is derived: it cannot be a marked one"
        name = "token" if management else "new key"
        value = MARKED[name] + ("" if management else f"{next(self.numbers):04}")
        return MintedKey(value, key_hash(value), f"{value[:3]}...{value[-3:]}")


@contextmanager
def minting_marked() -> Iterator[None]:
    """Embedded gateways make marked keys: the one management key of each is the token."""
    minter = Minter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gwtui.embedded.auth.mint", minter)
        patch.setattr("gwtui.embedded.routes.keys.mint", minter)
        yield


@contextmanager
def logging_into(folder: Path) -> Iterator[None]:
    """Everything that is logged goes where the program would write it."""
    root, ours = logging.getLogger(), logging.getLogger("gwtui")
    before = list(root.handlers), logging.raiseExceptions
    level = ours.level
    open_log(folder, "debug")
    try:
        yield
    finally:
        root.handlers[:], logging.raiseExceptions = before
        ours.setLevel(level)
