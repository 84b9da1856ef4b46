"""Create the initial content of a database: the documents of the data files, and past usage.

Moments are relative to the creation date, so that every state (near its limit, expiring soon,
unused for long) exists at any date. The same seed and moment give the same content.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Any, Literal, NamedTuple

from pydantic import TypeAdapter

from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.scalars import timestamp_text
from gwtui.domain.times import window_start
from gwtui.embedded.simulator.catalog import CatalogEndpoint, build_catalog, entries
from gwtui.embedded.simulator.seeded_random import between, hex_text, uuid_text
from gwtui.embedded.simulator.usage import (
    PICO,
    UsageProfile,
    UsageSlice,
    UsageStream,
    accrued,
    accrued_by_day,
    total,
)
from gwtui.embedded.store import account, documents, keys
from gwtui.embedded.store.account import Actor, from_micros, to_day, to_micros, to_pico
from gwtui.embedded.store.byok import NEW_CREDENTIAL
from gwtui.embedded.store.documents import Document

Entry = Mapping[str, Any]
Content = Literal["simulated", "empty"]

_TOP_UP = Decimal(500)
_BALANCE = (430.0, 690.0)
_LEAST_DAYS = {"daily": 1.0, "weekly": 5.0, "monthly": 18.0}
"""Minimum number of days over which a key spends the used part of its limit.

Without a minimum, a key created early in a window would be absurdly busy.
"""
_DELIBERATE = 3.0
"""Number of days from which an expiry is at 00:00 UTC, as if chosen as a date."""
_LIMIT_REACHED = timedelta(hours=5)
"""How long ago a key without reset reached its limit."""
_SCALING_STEPS = 2
"""How often usage is scaled to its target; the second time corrects the rounding to requests."""
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
"""Kind of work -> average request: prompt tokens, answer tokens, other quantities by price."""


class Origin(NamedTuple):
    """The seed, creation time and first content of a database, fixed when it is created."""

    seed: int
    moment: datetime
    content: Content


def fill_if_empty(
    db: sqlite3.Connection, seed: int, now: datetime, content: Content, dialect: Dialect
) -> Origin:
    """Fill a database if it is empty, and return its origin.

    A database with content keeps its origin; only the dialect is stored anew.
    """
    if not account.is_founded(db):
        founder = Founder(db, seed, from_micros(to_micros(now)), dialect)
        founder.fill(simulated=content == "simulated")
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
    """Fills an empty database with the resources of the data files."""

    def __init__(self, db: sqlite3.Connection, seed: int, now: datetime, dialect: Dialect) -> None:
        self._db = db
        self._seed = seed
        self._now = now
        self._key_prefix = dialect.key_prefix
        self._catalog = build_catalog(seed)
        self._people = {
            entry["handle"]: f"user_{hex_text(24, seed, 'user', index)}"
            for index, entry in enumerate(entries("user"))
        }
        self._owner = next(iter(self._people.values()))
        self._organization = f"org_{uuid.uuid5(uuid.NAMESPACE_OID, self._owner).hex}"
        self._workspaces = {entry["slug"]: self._workspace(entry) for entry in entries("workspace")}
        self._profiles: list[UsageProfile] = []
        self._spent = Decimal(0)

    def fill(self, *, simulated: bool) -> None:
        """Create the account with its members and default workspace.

        ``simulated`` adds the other workspaces, keys and further resources, and past usage.
        """
        for index, entry in enumerate(entries("user")):
            person = {name: entry.get(name) for name in ("first_name", "last_name", "role")}
            email = f"member{index + 1}@example.test"
            identity = {"id": self._people[entry["handle"]], "email": email}
            documents.PEOPLE.insert(self._db, {**identity, **person})
        for workspace in [*self._workspaces.values()][: None if simulated else 1]:
            documents.WORKSPACES.insert(self._db, workspace)
        account.change(
            self._db,
            organization_id=self._organization,
            owner_user_id=self._owner,
            default_workspace_id=self._workspaces["default"]["id"],
            purchases=[],
            usage_pico=0,
            booked_until=to_micros(self._now),
        )
        if simulated:
            self._add_all("key", self._add_key)
            self._add_purchases()
            account.fold_old(self._db, to_day(self._now))
            self._add_all("workspace", self._add_members_and_budgets)
            self._add_all("guardrail", self._add_guardrail)
            self._add_all("credential", self._add_credential)
            profiles = _PROFILES.dump_python(self._profiles, mode="json")
            account.change(self._db, profiles=profiles)

    def _add_all(self, kind: str, add: Callable[[Entry], None]) -> None:
        for entry in sorted(entries(kind), key=lambda entry: -entry["age"]):
            add(entry)

    def _days_ago(self, days: float) -> datetime:
        return (self._now - timedelta(days=days)).replace(microsecond=0)

    def _text_of(self, days: float | None) -> str | None:
        return None if days is None else timestamp_text(self._days_ago(days))

    def _id(self, *parts: object) -> str:
        return uuid_text(self._seed, *parts)

    def _workspace(self, entry: Entry) -> Document:
        slug = entry["slug"]
        return {
            **new_workspace(self._id("workspace", slug), self._days_ago(entry["age"])),
            "name": entry["name"],
            "slug": slug,
            "description": entry.get("description"),
            "created_by": self._people.get(entry.get("creator", "")),
            "updated_at": self._text_of(entry.get("changed")),
            "is_data_discount_logging_enabled": True,
            "default_guardrail_id": self._id("guardrail", slug),
            **entry.get("settings", {}),
        }

    def _add_members_and_budgets(self, entry: Entry) -> None:
        slug, workspace = entry["slug"], self._workspaces[entry["slug"]]
        bound = {"workspace_id": workspace["id"], "created_at": workspace["created_at"]}
        for handle in entry.get("members", ()):
            member = {"id": self._id("member", slug, handle), "user_id": self._people[handle]}
            documents.MEMBERS.insert(self._db, {**bound, **member})
        for interval, limit in entry.get("budgets", {}).items():
            budget = {
                **bound,
                "id": self._id("budget", slug, interval),
                "limit_usd": limit,
                "reset_interval": None if interval == "lifetime" else interval,
                "updated_at": workspace["created_at"],
            }
            documents.BUDGETS.insert(self._db, budget)

    def _add_guardrail(self, entry: Entry) -> None:
        workspace, name = self._workspaces[entry["workspace"]], entry.get("name")
        created_at = self._text_of(entry["age"])
        guardrail_id = self._id("rail", name) if name else workspace["default_guardrail_id"]
        guardrail = {
            **dict.fromkeys(Guardrail.model_fields),
            "include_byok_in_budgets": False,
            "id": guardrail_id,
            "workspace_id": workspace["id"],
            "name": name or default_name(workspace["id"]),
            "created_at": created_at,
            "updated_at": self._text_of(entry.get("changed")),
            **entry.get("settings", {}),
        }
        documents.GUARDRAILS.insert(self._db, guardrail)
        bound = {
            "guardrail_id": guardrail_id,
            "assigned_by": self._owner,
            "created_at": created_at,
        }
        for key_name in entry.get("keys", ()):
            key = {"id": str(uuid.uuid4()), "key_hash": self._hash_of(key_name)}
            documents.KEY_ASSIGNMENTS.insert(self._db, {**bound, **key})
        for handle in entry.get("members", ()):
            member = {"id": str(uuid.uuid4()), "user_id": self._people[handle]}
            documents.MEMBER_ASSIGNMENTS.insert(
                self._db, {**bound, **member, "organization_id": self._organization}
            )

    def _add_credential(self, entry: Entry) -> None:
        # These credentials have no stored provider key.
        identity = ("credential", entry["workspace"], entry["provider"], entry.get("name"))
        keys, handles = entry.get("keys"), entry.get("users")
        label = f"{entry.get('prefix', 'sk-')}...{hex_text(4, self._seed, 'label', *identity)}"
        credential = {
            "id": self._id(*identity),
            "workspace_id": self._workspaces[entry["workspace"]]["id"],
            "provider": entry["provider"],
            "label": label,
            "created_at": self._text_of(entry["age"]),
            **NEW_CREDENTIAL,
            "name": entry.get("name"),
            "allowed_api_key_hashes": keys and [*map(self._hash_of, keys)],
            "allowed_user_ids": handles and [self._people[handle] for handle in handles],
            **entry.get("terms", {}),
        }
        documents.CREDENTIALS.insert(self._db, credential)

    # Keys -------------------------------------------------------------------------------------

    def _hash_of(self, key_name: str) -> str:
        return hex_text(64, self._seed, "key", key_name)

    def _expires_at(self, entry: Entry) -> datetime | None:
        if "expires" not in entry:
            return None
        moment = self._days_ago(-entry["expires"])
        return moment if abs(entry["expires"]) < _DELIBERATE else window_start("daily", moment)

    def _add_key(self, entry: Entry) -> None:
        # The key has no key text, so nobody can use it.
        profile = self._usage_profile(entry)
        days = accrued_by_day(profile, profile.active_from, self._stopped_at(entry))
        last_used_at = max((day.moment for day in days), default=None)
        expires_at, name = self._expires_at(entry), entry["name"]
        digits = hex_text(6, self._seed, "label", name)
        document = {
            **keys.new_document(
                hash=profile.identity,
                name=name,
                label=f"{self._key_prefix}{digits[:3]}...{digits[3:]}",
                created_at=profile.active_from,
                workspace_id=self._workspaces[entry["workspace"]]["id"],
            ),
            "creator_user_id": self._people.get(entry.get("creator", "")),
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
        account.book(self._db, actor, days)
        self._spent += total(days).usd
        if profile.streams:
            self._profiles.append(profile)

    def _stopped_at(self, entry: Entry) -> datetime:
        # The moment the gateway started to refuse the key, or now for an active key.
        ends = [self._now, self._expires_at(entry) or self._now]
        if "disabled" in entry:
            ends.append(self._days_ago(entry["disabled"]))
        if entry.get("used", 0) >= 1 and "reset" not in entry:
            ends.append(self._now - _LIMIT_REACHED)
        return min(ends)

    def _usage_profile(self, entry: Entry) -> UsageProfile:
        # The traffic is scaled to the used share of the key's limit, if it has one.
        abandoned = entry.get("abandoned")
        profile = UsageProfile(
            seed=self._seed,
            identity=self._hash_of(entry["name"]),
            rhythm=entry.get("rhythm", "office"),
            active_from=self._days_ago(entry["age"]),
            abandoned_at=None if abandoned is None else self._days_ago(abandoned),
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
        balance = Decimal(between(*_BALANCE, self._seed, "balance")).quantize(Decimal("0.01"))
        count = int(((self._spent + balance) / _TOP_UP).to_integral_value(ROUND_CEILING)) + 1
        for index in range(count):
            age = timedelta(days=6 + 370 * (count - 1 - index) // count, hours=3)
            account.buy(self._db, self._now - age, _TOP_UP)
        retired = count * _TOP_UP - balance - self._spent
        earlier = UsageSlice(self._days_ago(400), "", 0, 0, 0, retired, Decimal(0))
        account.book(self._db, Actor("", "", None), [earlier])


def _stream(endpoint: CatalogEndpoint, work: Entry, usd_per_day: float) -> UsageStream:
    # On a free model, ``usd_per_day`` is a number of requests.
    prompt, completion, others = _REQUESTS[work["kind"]]

    def pico(name: str) -> int:
        """Return the endpoint's discounted price in pico-USD; 0 if it does not charge this."""
        pricing = endpoint.wire["pricing"]
        share = 1 - Decimal(str(pricing["discount"]))
        return to_pico(Decimal(pricing.get(name, "0")) * share)

    price = prompt * pico("prompt") + completion * pico("completion")
    price += sum(quantity * pico(name) for name, quantity in others.items())
    usd = usd_per_day * work.get("share", 1.0)
    return UsageStream(
        endpoint_key=endpoint.key,
        requests_per_day=usd / float(price * PICO) if price else usd,
        prompt_tokens=prompt,
        completion_tokens=completion,
        price=price,
        byok=work.get("byok", False),
    )


def new_workspace(workspace_id: str, created: datetime) -> Document:
    """Return the document of a new workspace with defaults; name and slug are None."""
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
