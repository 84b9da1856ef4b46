"""A key that was never acknowledged and is offered again, as pictures; its value is in none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from pydantic import SecretStr

from dashboard_kit import MOMENT, Demo, pressing
from gwtui.local.sealed_keys import DIRECTORY, SealedKeys

SnapCompare = Callable[..., bool]

KEYS: dict[str, tuple[int, tuple[str, ...]]] = {
    "offered": (1, ()),
    "several": (5, ()),
    "shown-again": (1, ("right", "enter")),
}


@pytest.mark.parametrize(
    ("name", "size"), [*((name, (80, 24)) for name in KEYS), ("shown-again", (120, 40))]
)
def test_sealed(name: str, size: tuple[int, int], demo: Demo, snap_compare: SnapCompare) -> None:
    count, keys = KEYS[name]
    now = MOMENT - timedelta(hours=3)
    token = SecretStr(demo.token)
    sealed = SealedKeys(demo.folder / DIRECTORY, "http://demo/api/v1", token, lambda: now)
    for number in range(count):
        sealed.seal(
            f"plan{number}",
            SecretStr("gw-v1-sentinel"),
            name=f"nightly {number + 1}",
            key_hash="c0ffee",
            made_at=now + timedelta(minutes=number),
        )
    sealed.close()
    assert snap_compare(demo.app("keys"), terminal_size=size, run_before=pressing(*keys))
