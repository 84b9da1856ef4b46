"""The tables, as a list of migrations. The list only grows; its length is the schema's version.

Moments are whole seconds since 1970. A *stretch* is one row of samples of one series:

- ``width`` 0 holds raw samples: a row is a run of equal readings from ``start`` to ``until``.
- The other widths hold buckets of that many seconds. Neighbours in which one and the same value
  was read throughout share a row; ``until`` is the moment of the last sample in it.
- No row crosses a boundary of the next width (see ``tiers.PARENT``), so that each one goes into
  the coarser tier as a whole and nothing is ever counted twice.
- ``count`` samples had a figure, ``nulls`` had none. ``high`` is NULL where all of them were the
  same, ``low``, NULL for "none": then ``total`` and ``last`` follow from it.

The second migration is that of ``watch/alerts``: how each condition stands that is not quiet, what
was silenced, and what happened. ``said`` is what was told of it.
"""

from __future__ import annotations

APPLICATION_ID = 0x67774849
"""Marks a SQLite file as a history of ours."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE settings (
            name TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE series (
            id INTEGER PRIMARY KEY,
            resource TEXT NOT NULL,
            identity TEXT NOT NULL,
            figure TEXT NOT NULL,
            unit TEXT NOT NULL,
            every INTEGER NOT NULL,
            UNIQUE (resource, identity, figure)
        )
        """,
        """
        CREATE TABLE stretches (
            width INTEGER NOT NULL,
            series INTEGER NOT NULL,
            start INTEGER NOT NULL,
            until INTEGER NOT NULL,
            count INTEGER NOT NULL,
            nulls INTEGER NOT NULL,
            total TEXT,
            low TEXT,
            high TEXT,
            last TEXT,
            PRIMARY KEY (width, series, start)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE tiers (
            width INTEGER PRIMARY KEY,
            kept_from INTEGER NOT NULL,
            rolled_until INTEGER NOT NULL
        )
        """,
        """
        CREATE TABLE coverage (
            source TEXT NOT NULL,
            start INTEGER NOT NULL,
            until INTEGER NOT NULL,
            PRIMARY KEY (source, start)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE versions (
            id INTEGER PRIMARY KEY,
            resource TEXT NOT NULL,
            identity TEXT NOT NULL,
            since INTEGER NOT NULL,
            until INTEGER,
            fields TEXT NOT NULL
        )
        """,
        "CREATE INDEX versions_of ON versions (resource, identity, since)",
        "CREATE INDEX versions_now ON versions (resource, identity) WHERE until IS NULL",
        """
        CREATE TABLE changes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            not_before INTEGER,
            kind TEXT NOT NULL,
            resource TEXT NOT NULL,
            identity TEXT NOT NULL,
            name TEXT NOT NULL,
            field TEXT NOT NULL,
            before TEXT,
            after TEXT
        )
        """,
        "CREATE INDEX changes_at ON changes (at)",
        "CREATE INDEX changes_of ON changes (resource, identity, at)",
        """
        CREATE TABLE watched_models (
            model TEXT PRIMARY KEY,
            added_at INTEGER NOT NULL
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE lease (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            holder TEXT NOT NULL,
            pid INTEGER NOT NULL,
            host TEXT NOT NULL,
            beat INTEGER NOT NULL,
            taken_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL
        )
        """,
    ),
    (
        """
        CREATE TABLE alerts (
            rule TEXT NOT NULL,
            resource TEXT NOT NULL,
            identity TEXT NOT NULL,
            state TEXT NOT NULL,
            since INTEGER NOT NULL,
            fired_at INTEGER,
            severity TEXT NOT NULL,
            title TEXT NOT NULL,
            name TEXT NOT NULL,
            said TEXT NOT NULL,
            value TEXT,
            acknowledged_at INTEGER,
            acknowledged_by TEXT,
            PRIMARY KEY (rule, resource, identity)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE alert_silences (
            rule TEXT NOT NULL,
            resource TEXT NOT NULL,
            identity TEXT NOT NULL,
            since INTEGER NOT NULL,
            until INTEGER NOT NULL,
            who TEXT NOT NULL,
            PRIMARY KEY (rule, resource, identity)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE alert_events (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            event TEXT NOT NULL,
            rule TEXT NOT NULL,
            resource TEXT NOT NULL,
            identity TEXT NOT NULL,
            severity TEXT NOT NULL,
            title TEXT NOT NULL,
            name TEXT NOT NULL,
            said TEXT NOT NULL,
            value TEXT,
            who TEXT NOT NULL,
            until INTEGER,
            quiet INTEGER NOT NULL
        )
        """,
    ),
)

SCHEMA_VERSION = len(MIGRATIONS)
