"""The embedded gateway: one database, one simulated world, one ASGI application."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.app import Responder
from gwtui.embedded.auth import ISSUED_KEY_NAME, issue
from gwtui.embedded.operations import Site
from gwtui.embedded.simulator.usage import UsageProfile
from gwtui.embedded.store import account
from gwtui.embedded.store.byok import SecretBox
from gwtui.embedded.store.database import Database
from gwtui.embedded.store.documents import KEYS
from gwtui.embedded.store.founding import Content, Origin, found, profiles_of
from gwtui.embedded.store.ledger import SimulatedHistory, UsageLedger

if TYPE_CHECKING:
    from gwtui.embedded.faults import FaultInjector


class EmbeddedGateway:
    """A gateway without a socket: call ``asgi``, or host it with ``hosting``."""

    def __init__(
        self,
        database: Database,
        site: Site,
        origin: Origin,
        profiles: Mapping[str, UsageProfile],
        faults: FaultInjector | None = None,
    ) -> None:
        self._ledger = UsageLedger(database, profiles)
        self._ledger.catch_up(site.clock.now())
        self._database = database
        self._site = site
        self.origin = origin
        self.profiles = profiles
        """The usage profiles of the simulated keys, by key hash."""
        self.faults = faults
        """The injected faults; None without fault injection."""
        app = Responder(site, database, self._ledger)
        self.asgi: ASGIApp = app if faults is None else faults.before(app, site.clock)

    @classmethod
    def open(
        cls,
        database: Path | None,
        *,
        dialect: Dialect = GENERIC,
        seed: int = 1,
        content: Content = "simulated",
        clock: Clock = SYSTEM_CLOCK,
        faults: FaultInjector | None = None,
    ) -> EmbeddedGateway:
        """Open the gateway of a database, which is created if missing; None is one in memory.

        ``seed`` and ``content`` only apply to a new database; an existing one keeps its ``origin``.
        "empty" is a new account: the catalog, one workspace, no keys and no credits. Raises
        DatabaseInUseError if another process serves the file, DatabaseUnusableError if it is not a
        gateway database, is from another version, or has a damaged key file.
        """
        opened = Database.serve(database)
        clock = clock if faults is None else faults.skewed(clock)
        try:
            with opened.write() as db:
                origin = found(db, seed, clock.now(), content, dialect)
                profiles = profiles_of(db)
            site = Site(
                dialect=dialect,
                clock=clock,
                seed=origin.seed,
                secrets=SecretBox(opened.path),
            )
            return cls(opened, site, origin, profiles, faults)
        except BaseException:
            opened.close()
            raise

    @property
    def clock(self) -> Clock:
        """The gateway's clock."""
        return self._site.clock

    def past(self) -> SimulatedHistory | None:
        """Return the simulated past; None for an account that started empty."""
        if self.origin.content == "empty":
            return None
        self._ledger.catch_up(self._site.clock.now())
        with self._database.read() as db:
            return SimulatedHistory.of(db, self.origin, self.profiles, self._site.catalog)

    def issue_key(
        self,
        *,
        management: bool,
        name: str = ISSUED_KEY_NAME,
        workspace_id: str | None = None,
    ) -> str:
        """Issue a key and return its full text, which is not stored.

        ``workspace_id`` only applies to keys that are no management keys; None is the default
        workspace. Raises NoWorkspaceError for an unknown workspace.
        """
        return issue(
            self._database,
            self._site.dialect,
            self._site.clock.now(),
            management=management,
            name=name,
            workspace_id=workspace_id,
        )

    def revoke_management_keys(self, name: str) -> None:
        """Delete all management keys with this name."""
        with self._database.write() as db:
            where = "workspace_id IS NULL AND json_extract(document, '$.name') = ?"
            KEYS.delete(db, where, (name,))

    def change_settings(self, **settings: str | None) -> None:
        """Write settings of the account."""
        with self._database.write() as db:
            account.change(db, **settings)

    def close(self) -> None:
        """Close the database. May be called twice."""
        self._database.close()
