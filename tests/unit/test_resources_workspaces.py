"""Budgets, keys and members of workspaces, as far as they are counted."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gwtui.domain.keys import KeyCount, spent_by_interval, spent_by_keys
from gwtui.watch.feeds.workspaces import keys_made_by
from resource_samples import NOW, key, wire_time


def test_active_keys_are_counted_at_the_moment_they_are_shown() -> None:
    soon = NOW + timedelta(minutes=5)
    count = KeyCount.of(
        [
            key(expires_at=None),
            key(expires_at=wire_time(soon)),
            key(disabled=True),
            key(disabled=...),
        ]
    )
    assert (count.total, count.active(NOW), count.active(soon)) == (4, 2, 1)


def test_spending_counts_byok_only_where_it_counts_and_is_unknown_when_a_key_is() -> None:
    keys = [key(usage_daily=1, byok_usage_daily=2), key(usage_daily=3, byok_usage_daily=4)]
    assert spent_by_keys(keys, "daily", byok=False) == 4
    assert spent_by_keys(keys, "daily", byok=True) == 10
    assert spent_by_keys([*keys, key(usage_daily=None)], "daily", byok=False) is None
    assert spent_by_interval([], byok=True)["lifetime"] == 0
    with pytest.raises(KeyError):
        spent_by_keys(keys, "hourly", byok=False)


def test_keys_of_a_member_are_those_that_the_member_made() -> None:
    keys = [key(creator_user_id="user_1"), key(creator_user_id=None), key(creator_user_id="x")]
    assert keys_made_by(keys, "user_1") == (keys[0],)
    assert keys_made_by(keys, None) == ()
