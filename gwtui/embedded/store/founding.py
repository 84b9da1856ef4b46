"""Create the initial content of a database: the documents of the data files, and past usage.

Moments are relative to the creation date, so that every state (near its limit, expiring soon,
unused for long) exists at any date. The same seed and moment give the same content.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import TypeAdapter

from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.scalars import timestamp_text
from gwtui.domain.history_source import KeyUsage
from gwtui.domain.times import window_start
from gwtui.embedded.simulator.seeded_random import between, hex_text, uuid_text
from gwtui.embedded.simulator.usage import (
    PICO,
    UsageProfile,
    UsageStream,
    accrued,
    accrued_by_day,
    total,
)
from gwtui.embedded.store import account, documents, keys
from gwtui.embedded.store.account import Actor, from_micros, to_day, to_micros, to_pico
from gwtui.embedded.store.documents import Document

if TYPE_CHECKING:
    from gwtui.embedded.operations import StoredResource
    from gwtui.embedded.simulator.catalog import CatalogEndpoint

Entry = Mapping[str, Any]
Content = Literal["simulated", "empty"]

_TOP_UP = Decimal(500)
_BALANCE = (430.0, 690.0)
_LEAST_DAYS = {"daily": 1.0, "weekly": 5.0, "monthly": 18.0}
"""Minimum number of days over which a key spends the used part of its limit.

Without a minimum, a key created early in a window would be absurdly busy.
"""
_DELIBERATE = 3.0
"""From this number of days on, an expiry was chosen as a date, not as a duration."""
_LIMIT_REACHED = timedelta(hours=5)
"""How long ago a key without reset reached its limit."""
_SCALING_STEPS = 2
"""Number of scaling steps; the second one corrects the rounding to whole requests."""
_REQUESTS: Mapping[str, tuple[int, int, Mapping[str, int]]] = {
    "chat": (1_700, 380, {}),
    "agent": (9_400, 720, {}),
    "documents": (21_000, 640, {}),
    "code": (6_200, 540, {}),
    "batch": (12_500, 740, {}),
    "embed": (36_000, 0, {}),
    "rank": (0, 0, {"request": 1}),
    "judge": (800, 12, {}),
    "picture": (120, 0, {"image_output": 1}),
    "film": (90, 0, {"request": 1}),
    "speak": (260, 0, {"audio_output": 1_500}),
    "listen": (0, 900, {"audio": 14_000}),
}
"""An average request: prompt tokens, answer tokens, and other priced quantities."""


class Origin(NamedTuple):
    """The seed, moment and content of a new database; they never change."""

    seed: int
    moment: datetime
    content: Content


def found(
    db: sqlite3.Connection,
    seed: int,
    now: datetime,
    content: Content,
    dialect: Dialect,
    resources: Callable[[], Iterable[StoredResource]],
) -> Origin:
    """Return the origin of a database; an empty one is filled now, with these arguments."""
    if not account.is_founded(db):
        founder = Founder(db, seed, from_micros(to_micros(now)), dialect)
        founder.found(resources(), simulated=content == "simulated")
        account.change(db, seed=seed, founded_at=to_micros(now), content=content)
    account.change(db, dialect=dialect.name)
    return Origin(
        account.setting(db, "seed"),
        from_micros(account.setting(db, "founded_at")),
        account.setting(db, "content"),
    )


_PROFILES = TypeAdapter(list[UsageProfile])


def profiles_of(db: sqlite3.Connection) -> dict[str, UsageProfile]:
    """Return the usage profiles of the simulated keys, by key hash."""
    stored = _PROFILES.validate_python(account.setting(db, "profiles") or [])
    return {profile.identity: profile for profile in stored}


class Founder:
    """Fills an empty database. ``workspaces`` are by slug, ``people`` are user ids by handle."""

    def __init__(self, db: sqlite3.Connection, seed: int, now: datetime, dialect: Dialect) -> None:
        from gwtui.embedded.simulator import catalog  # noqa: PLC0415 - for a new database only

        self._db = db
        self.seed = seed
        self._now = now
        self._key_prefix = dialect.key_prefix
        self.entries = catalog.entries
        self._catalog = catalog.build_catalog(seed)
        self.people = {
            entry["handle"]: f"user_{hex_text(24, seed, 'user', index)}"
            for index, entry in enumerate(self.entries("user"))
        }
        self._owner = next(iter(self.people.values()))
        self._organization = f"org_{uuid.uuid5(uuid.NAMESPACE_OID, self._owner).hex}"
        self.workspaces = {
            entry["slug"]: self._workspace(entry) for entry in self.entries("workspace")
        }
        self._profiles: list[UsageProfile] = []
        self._spent = Decimal(0)

    def found(self, resources: Iterable[StoredResource], *, simulated: bool) -> None:
        """Create the account, with all resources if it is simulated.

        People come from outside the gateway, so an empty account has them as well.
        """
        for index, entry in enumerate(self.entries("user")):
            person = {name: entry.get(name) for name in ("first_name", "last_name", "role")}
            email = f"member{index + 1}@example.test"
            identity = {"id": self.people[entry["handle"]], "email": email}
            documents.PEOPLE.insert(self._db, {**identity, **person})
        for workspace in [*self.workspaces.values()][: None if simulated else 1]:
            documents.WORKSPACES.insert(self._db, workspace)
        account.change(
            self._db,
            organization_id=self._organization,
            owner_user_id=self._owner,
            default_workspace_id=self.workspaces["default"]["id"],
            purchases=[],
            usage_pico=0,
            booked_until=to_micros(self._now),
        )
        if not simulated:
            return
        for entry in sorted(self.entries("key"), key=self._created_at):
            self._add_key(entry)
        self._add_purchases()
        for member in sorted(self._members(), key=_age):
            documents.MEMBERS.insert(self._db, member)
        for budget in self._budgets():
            documents.BUDGETS.insert(self._db, budget)
        guardrails = ((self._guardrail(entry), entry) for entry in self.entries("guardrail"))
        for guardrail, entry in sorted(guardrails, key=lambda pair: _age(pair[0])):
            documents.GUARDRAILS.insert(self._db, guardrail)
            self._assign(guardrail, entry)
        for resource in resources:
            for document in sorted(resource.first(self), key=_age):
                resource.kind.insert(self._db, document)
        profiles = _PROFILES.dump_python(self._profiles, mode="json")
        account.change(self._db, profiles=profiles)

    # Moments, to the second, and not all at the same time of the day -------------------------

    def days_ago(self, days: float, *jitter: object, most: int = 0) -> datetime:
        """Return the moment ``days`` ago, minus up to ``most`` seconds of jitter."""
        earlier = int(between(0, most, self.seed, *jitter)) if most else 0
        return (self._now - timedelta(days=days, seconds=earlier)).replace(microsecond=0)

    def _text_of(self, days: float | None) -> str | None:
        return None if days is None else timestamp_text(self.days_ago(days))

    # Workspaces -------------------------------------------------------------------------------

    def _workspace(self, entry: Entry) -> Document:
        slug, changed = entry["slug"], entry.get("changed")
        jitter = int(between(0, 36_000, self.seed, "workspace age", slug))
        created = self._now - timedelta(days=entry["age"], seconds=jitter)
        return {
            **new_workspace(uuid_text(self.seed, "workspace", slug), created),
            "name": entry["name"],
            "slug": slug,
            "description": entry.get("description"),
            "created_by": self.people.get(entry.get("creator", "")),
            "updated_at": None
            if changed is None
            else timestamp_text(self._now - timedelta(seconds=int(changed * 86_400))),
            "is_data_discount_logging_enabled": True,
            "default_guardrail_id": uuid_text(self.seed, "guardrail", slug),
            **entry.get("settings", {}),
        }

    def _members(self) -> Iterator[Document]:
        for entry in self.entries("workspace"):
            workspace = self.workspaces[entry["slug"]]
            for handle in entry.get("members", ()):
                yield {
                    "id": uuid_text(self.seed, "member", entry["slug"], handle),
                    "workspace_id": workspace["id"],
                    "user_id": self.people[handle],
                    "created_at": workspace["created_at"],
                }

    def _budgets(self) -> Iterator[Document]:
        for entry in self.entries("workspace"):
            workspace = self.workspaces[entry["slug"]]
            for interval, limit in entry.get("budgets", {}).items():
                yield {
                    "id": uuid_text(self.seed, "budget", entry["slug"], interval),
                    "workspace_id": workspace["id"],
                    "limit_usd": limit,
                    "reset_interval": None if interval == "lifetime" else interval,
                    "created_at": workspace["created_at"],
                    "updated_at": workspace["created_at"],
                }

    # Guardrails ----------------------------------------------------------------------------

    def hash_of(self, key_name: str) -> str:
        """Return the hash of a simulated key."""
        return hex_text(64, self.seed, "key", key_name)

    def _guardrail(self, entry: Entry) -> Document:
        workspace, name = self.workspaces[entry["workspace"]], entry.get("name")
        created = self.days_ago(entry["age"], "rail", name or "", most=9000)
        settings = dict(entry.get("settings", {}))
        for custom in settings.get("content_filters", ()):
            custom.setdefault("label", None)
        return {
            **dict.fromkeys(Guardrail.model_fields),
            "include_byok_in_budgets": False,
            "id": uuid_text(self.seed, "rail", name) if name else workspace["default_guardrail_id"],
            "workspace_id": workspace["id"],
            "name": name or default_name(workspace["id"]),
            "created_at": timestamp_text(created),
            "updated_at": self._text_of(entry.get("changed")),
            **settings,
        }

    def _assign(self, guardrail: Document, entry: Entry) -> None:
        created = datetime.fromisoformat(guardrail["created_at"])
        bound = {
            "guardrail_id": guardrail["id"],
            "assigned_by": self._owner,
            "created_at": timestamp_text(created + timedelta(minutes=7)),
        }
        for key_name in entry.get("keys", ()):
            key = {"id": str(uuid.uuid4()), "key_hash": self.hash_of(key_name)}
            documents.KEY_ASSIGNMENTS.insert(self._db, {**bound, **key})
        for handle in entry.get("members", ()):
            member = {"id": str(uuid.uuid4()), "user_id": self.people[handle]}
            documents.MEMBER_ASSIGNMENTS.insert(
                self._db, {**bound, **member, "organization_id": self._organization}
            )

    # Keys -------------------------------------------------------------------------------------

    def _created_at(self, entry: Entry) -> datetime:
        return self.days_ago(entry["age"] - 0.3 * between(0, 1, self.seed, "age", entry["name"]))

    def _expires_at(self, entry: Entry) -> datetime | None:
        if "expires" not in entry:
            return None
        moment = self.days_ago(-entry["expires"])
        return moment if abs(entry["expires"]) < _DELIBERATE else window_start("daily", moment)

    def _add_key(self, entry: Entry) -> None:
        # The key has no key text, so nobody can use it.
        profile = self._usage_profile(entry)
        days = accrued_by_day(profile, profile.active_from, self._stopped_at(entry))
        last_used_at = max((day.moment for day in days), default=None)
        expires_at, name = self._expires_at(entry), entry["name"]
        digits = hex_text(6, self.seed, "label", name)
        document = {
            **keys.new_document(
                hash=profile.identity,
                name=name,
                label=f"{self._key_prefix}{digits[:3]}...{digits[3:]}",
                created_at=profile.active_from,
                workspace_id=self.workspaces[entry["workspace"]]["id"],
            ),
            "creator_user_id": self.people.get(entry.get("creator", "")),
            "updated_at": self._text_of(entry.get("disabled", entry.get("changed"))),
            "expires_at": expires_at and timestamp_text(expires_at),
            "last_used_at": last_used_at and timestamp_text(last_used_at),
            "disabled": "disabled" in entry,
            "limit": entry.get("limit"),
            "limit_reset": entry.get("reset"),
            "include_byok_in_limit": entry.get("counts_byok", False),
            "external_user": entry.get("external_user"),
        }
        documents.KEYS.insert(self._db, document)
        actor = Actor(profile.identity, document["workspace_id"], document["creator_user_id"])
        today = to_day(self._now)
        account.book_all(self._db, actor, days, today)
        self._spent += total(days).usd
        if profile.streams:
            self._profiles.append(profile)

    def _stopped_at(self, entry: Entry) -> datetime:
        # The moment the gateway started to refuse the key, or now for an active key.
        ends = [self._now, self._expires_at(entry) or self._now]
        if "disabled" in entry:
            ends.append(self.days_ago(entry["disabled"]))
        if entry.get("used", 0) >= 1 and "reset" not in entry:
            ends.append(self._now - _LIMIT_REACHED)
        return min(ends)

    def _usage_profile(self, entry: Entry) -> UsageProfile:
        # The traffic is scaled to the used share of the key's limit, if it has one.
        abandoned = entry.get("abandoned")
        profile = UsageProfile(
            seed=self.seed,
            identity=self.hash_of(entry["name"]),
            rhythm=entry.get("rhythm", "office"),
            active_from=self._created_at(entry),
            abandoned_at=None if abandoned is None else self.days_ago(abandoned),
            streams=tuple(
                _stream(self._catalog.endpoint(work["endpoint"]), work, entry.get("usd_per_day", 1))
                for work in entry.get("work", ())
            ),
        )
        if "used" not in entry:
            return profile
        start, reset = profile.active_from, entry.get("reset")
        window = window_start(reset, self._now)
        if reset is not None and window is not None:
            start = min(window, self._now - timedelta(days=_LEAST_DAYS[reset]))
        for _ in range(_SCALING_STEPS):
            used = accrued(profile, start, self._stopped_at(entry))
            counted = used.usd + (used.byok_usd if entry.get("counts_byok") else 0)
            factor = float(entry["limit"]) * entry["used"] / float(counted) if counted else 1.0
            streams = (
                replace(stream, requests_per_day=stream.requests_per_day * factor)
                for stream in profile.streams
            )
            profile = replace(profile, streams=tuple(streams))
        return profile

    def _add_purchases(self) -> None:
        # The purchases leave a plausible balance; the usage of deleted keys is added to the total.
        balance = Decimal(between(*_BALANCE, self.seed, "balance")).quantize(Decimal("0.01"))
        count = int(((self._spent + balance) / _TOP_UP).to_integral_value(ROUND_CEILING)) + 1
        for index in range(count):
            age = timedelta(days=6 + 370 * (count - 1 - index) // count, hours=3)
            account.buy(self._db, self._now - age, _TOP_UP)
        retired = count * _TOP_UP - balance - self._spent
        account.book_earlier(self._db, Actor("", "", None), KeyUsage(retired, Decimal(0)))


def _age(document: Document) -> str:
    return str(document["created_at"])


def _stream(endpoint: CatalogEndpoint, work: Entry, usd_per_day: float) -> UsageStream:
    # On a free model, ``usd_per_day`` is a number of requests.
    prompt, completion, others = _REQUESTS[work["kind"]]

    def pico(name: str) -> int:
        """Return the endpoint's discounted price in pico-USD; 0 if it does not charge this."""
        pricing = endpoint.wire["pricing"]
        share = 1 - Decimal(str(pricing["discount"]))
        return to_pico(Decimal(pricing.get(name, "0")) * share)

    request_price = sum(quantity * pico(name) for name, quantity in others.items())
    price = float(
        PICO * (prompt * pico("prompt") + completion * pico("completion") + request_price)
    )
    usd, byok = usd_per_day * work.get("share", 1.0), work.get("byok", False)
    return UsageStream(
        endpoint_key=endpoint.key,
        requests_per_day=usd / price if price else usd,
        prompt_tokens=prompt,
        completion_tokens=completion,
        prompt_price=pico("prompt"),
        completion_price=pico("completion"),
        request_price=request_price,
        byok=byok,
    )


def new_workspace(workspace_id: str, created: datetime) -> Document:
    """Return the document of a new workspace, without name and slug, with its fields in order."""
    return {
        "id": workspace_id,
        "name": None,
        "slug": None,
        "description": None,
        "created_at": timestamp_text(created),
        "created_by": None,
        "updated_at": None,
        "default_image_model": None,
        "default_text_model": None,
        "default_provider_sort": None,
        "default_guardrail_id": str(uuid.uuid5(uuid.UUID(workspace_id), "default guardrail")),
        "io_logging_api_key_ids": None,
        "io_logging_sampling_rate": 1.0,
        "is_data_discount_logging_enabled": False,
        "is_observability_broadcast_enabled": False,
        "is_observability_io_logging_enabled": False,
        "disabled_server_tools": None,
        "include_byok_in_budgets": False,
    }


def default_name(workspace_id: str) -> str:
    """Return the name of a workspace's default guardrail."""
    return f"Workspace {workspace_id} Default"
