"""Putting the first day together: people, workspaces, keys with their history, credits."""

from __future__ import annotations

from datetime import datetime

from gwtui.embedded.simulator.world import World


def build_world(seed: int, now: datetime) -> World:
    """The world of a seed as it stands at ``now`` (aware, UTC).

    Timestamps lie relative to ``now``, so that each state (near its limit, expiring soon, unused
    for long) is there whenever the gateway is born. The same arguments give the same world: a
    gateway that keeps (seed, birth) can rebuild every key's profile later.
    """
