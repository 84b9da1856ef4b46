"""What probes cost on each UTC day, kept in the history so that it outlives a restart.

A probe's bound is written down before it is sent, and replaced by its cost afterwards: what was
under way when the program ended counts with its bound. Every function is used inside of a
transaction, or makes its own; all raise sqlite3.Error.
"""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta
from decimal import Decimal

from gwtui.domain.probes import ProbeSpending
from gwtui.watch.history.file import transaction
from gwtui.watch.history.writer import HistoryWriter

_KEPT = timedelta(days=365)


def spending_of(connection: sqlite3.Connection, day: date) -> ProbeSpending:
    """What the probes of a day cost so far."""
    row = connection.execute(
        "SELECT told, open FROM probe_days WHERE day = ?", (day.isoformat(),)
    ).fetchone()
    return ProbeSpending() if row is None else ProbeSpending(Decimal(row[0]), Decimal(row[1]))


def begin(writer: HistoryWriter, day: date, most: Decimal, cap: Decimal) -> bool:
    """Count a probe that is about to be sent; False, and nothing counted, where it is too much.

    Raises LeaseLostError when another instance records, and probes, by now.
    """
    with writer.transaction() as connection:
        spent = spending_of(connection, day)
        if not spent.leaves_room(most, cap):
            return False
        _write(connection, day, spent.begun(most))
        connection.execute("DELETE FROM probe_days WHERE day < ?", ((day - _KEPT).isoformat(),))
        return True


def end(connection: sqlite3.Connection, day: date, most: Decimal, cost: Decimal) -> ProbeSpending:
    """Put the cost of a probe in the place of its bound, whoever records by now."""
    with transaction(connection):
        spent = spending_of(connection, day).ended(most, cost)
        _write(connection, day, spent)
    return spent


def _write(connection: sqlite3.Connection, day: date, spent: ProbeSpending) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO probe_days VALUES (?, ?, ?)",
        (day.isoformat(), str(spent.reported), str(spent.open)),
    )
