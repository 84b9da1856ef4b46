"""The gate: closed while connected, it holds back every write before it is sent, and no read."""

from __future__ import annotations

import pytest
from service_kit import data, rig

from gwtui.client.errors import ReadOnlyError


async def test_a_gate_that_closes_holds_back_writes_and_no_reads() -> None:
    it = rig(data({"deleted": True}))
    assert it.client.gate.closed is None
    it.client.gate.close("this key is not a management key")
    with pytest.raises(ReadOnlyError, match="not a management key") as caught:
        await it.client.keys.delete("ab" * 32)
    assert caught.value.effect == "none"
    assert it.script.requests == []
    await it.client.credits.get()
    assert [request.method for request in it.script.requests] == ["GET"]


def test_the_first_reason_stays() -> None:
    it = rig(data({}), read_only=True)
    it.client.gate.close("another reason")
    assert it.client.gate.closed == "this profile is read-only"
