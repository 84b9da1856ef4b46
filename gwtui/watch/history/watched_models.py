"""Which models are watched: a list in the history file, so that every instance agrees.

Until a person adds or removes one, the list is the default one: the models that were used most (see
``defaults``). Then it is the person's own, also when it is empty.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from gwtui.contract.usage import ActivityRow
from gwtui.watch.history.file import transaction
from gwtui.watch.history.model import seconds_of

DEFAULT_MODELS = 5
"""How many of the most used models are watched when nobody chose any."""
MOST_MODELS = 50
"""Each one costs a request a minute."""
_OWN = "watched_models_are_own"


def watched_models(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The models, in the order they were added."""
    rows = connection.execute("SELECT model FROM watched_models ORDER BY added_at, model")
    return tuple(model for (model,) in rows)


def is_own(connection: sqlite3.Connection) -> bool:
    """Whether a person chose the list."""
    found = connection.execute("SELECT 1 FROM settings WHERE name = ?", (_OWN,)).fetchone()
    return found is not None


def watch_model(connection: sqlite3.Connection, model: str, now: datetime) -> None:
    """Add a model ("author/slug"); any instance may. Raises ValueError when it cannot be one."""
    if "/" not in model or any(char.isspace() for char in model) or not model.isprintable():
        raise ValueError("a model is named as author/slug")
    with transaction(connection):
        (count,) = connection.execute("SELECT count(*) FROM watched_models").fetchone()
        if count >= MOST_MODELS:
            raise ValueError(f"at most {MOST_MODELS} models can be watched")
        connection.execute(
            "INSERT OR IGNORE INTO watched_models VALUES (?, ?)", (model, seconds_of(now))
        )
        _own(connection)


def unwatch_model(connection: sqlite3.Connection, model: str) -> None:
    """Take a model off the list; what was recorded stays."""
    with transaction(connection):
        connection.execute("DELETE FROM watched_models WHERE model = ?", (model,))
        _own(connection)


def set_defaults(connection: sqlite3.Connection, models: Iterable[str], now: datetime) -> bool:
    """Make these the list, unless a person chose one; whether that was done."""
    with transaction(connection):
        if is_own(connection):
            return False
        connection.execute("DELETE FROM watched_models")
        connection.executemany(
            "INSERT OR IGNORE INTO watched_models VALUES (?, ?)",
            [(model, seconds_of(now) + place) for place, model in enumerate(models)],
        )
    return True


def defaults(rows: Iterable[ActivityRow]) -> tuple[str, ...]:
    """The models with the most requests in the activity of the last 30 days."""
    used: Counter[str] = Counter()
    for row in rows:
        if row.model and not any(char.isspace() for char in row.model):
            used[row.model] += row.requests or 0
    ranked = sorted(used, key=lambda model: (-used[model], model))
    return tuple(ranked[:DEFAULT_MODELS])


def _own(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT OR REPLACE INTO settings VALUES (?, '1')", (_OWN,))
