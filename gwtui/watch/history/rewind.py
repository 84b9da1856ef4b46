"""A clock that was wrong: what it dated into the future is taken back."""

from __future__ import annotations

import sqlite3

from gwtui.watch.history.tiers import PARENT, RAW, WIDTHS, floor


def forget_after(connection: sqlite3.Connection, moment: int) -> None:
    """Inside a transaction: forget samples, versions and changes dated after ``moment``.

    The coarser tiers give up the whole parent bucket that holds the moment: no row crosses its
    beginning, and what was measured before the moment is gathered again from the finer tier.
    """
    _cut_runs(connection, moment)
    for width in WIDTHS:
        begin = moment + 1 if width == RAW else floor(moment, PARENT[width])
        connection.execute(
            "DELETE FROM stretches WHERE width = ? AND (start >= ? OR until > ?)",
            (width, begin, moment),
        )
        connection.execute(
            "UPDATE tiers SET rolled_until = min(rolled_until, ?), "
            "kept_from = min(kept_from, ?) WHERE width = ?",
            (begin, begin, width),
        )
    connection.execute("DELETE FROM coverage WHERE start > ?", (moment,))
    connection.execute("UPDATE coverage SET until = ? WHERE until > ?", (moment, moment))
    connection.execute("DELETE FROM versions WHERE since > ?", (moment,))
    connection.execute("UPDATE versions SET until = NULL WHERE until > ?", (moment,))
    connection.execute("DELETE FROM changes WHERE at > ?", (moment,))


def _cut_runs(connection: sqlite3.Connection, moment: int) -> None:
    """A run of equal readings that goes on after ``moment`` ends with the last one before it.

    Its readings count as evenly spaced: nothing finer is known of them.
    """
    runs = connection.execute(
        "SELECT series, start, until, count, nulls FROM stretches "
        "WHERE width = ? AND start <= ? AND until > ?",
        (RAW, moment, moment),
    ).fetchall()
    for series, start, until, count, nulls in runs:
        gaps = count + nulls - 1
        passed = gaps * (moment - start) // (until - start)
        connection.execute(
            "UPDATE stretches SET until = ?, count = ?, nulls = ? "
            "WHERE width = ? AND series = ? AND start = ?",
            (
                start + passed * (until - start) // gaps,
                passed + 1 if count else 0,
                passed + 1 if nulls else 0,
                *(RAW, series, start),
            ),
        )
