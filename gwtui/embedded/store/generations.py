"""Generations: records of requests to models. Extended contract section 8.

All real requests are kept. Of simulated requests, one per key, kind of work and day is kept. The
API has no list of generations, because clients know the identifiers of their requests; for
simulated requests, ``recent_generations`` lists them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gwtui.contract.scalars import timestamp_text
from gwtui.contract.values import ACTIVITY_DAYS
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.simulator.seeded_random import hex_text, number, pick
from gwtui.embedded.simulator.usage import UsageSlice
from gwtui.embedded.store import account
from gwtui.embedded.store.account import from_micros, to_day, to_micros
from gwtui.embedded.store.database import Database
from gwtui.embedded.store.documents import WORKSPACES, Document

if TYPE_CHECKING:
    from gwtui.embedded.simulator.catalog import CatalogEndpoint

FREE_PER_MINUTE = 20
_FREE_A_DAY = 50
_FREE_A_DAY_OF_A_BUYER = 1000
_BUYER_CREDITS = Decimal(10)
_VARIANT = "free"
_LISTED = 100
_API_TYPES: Mapping[str, str] = {
    "text_generation": "completions",
    "image_generation": "image",
    "video_generation": "video",
}
"""The contract's ``api_type`` of a workload, if it differs."""
_FINISHES = ("stop", "stop", "stop", "stop", "stop", "stop", "length", "tool_calls", None)
"""Finish reasons to draw from; None means that the client cancelled the request."""
_USER_AGENTS = ("python-httpx/0.28.1", "node", "Go-http-client/2.0", None)
_QUESTIONS = (
    "Summarise the attached report in five sentences.",
    "Which of these tickets are about billing?",
    "Write a unit test for the function below.",
    "Translate this paragraph into plain English.",
)
UNKNOWN_FIELDS = dict.fromkeys(
    (
        *("cache_discount", "moderation_latency", "router", "app_id", "preset_id"),
        *("native_tokens_completion_images", "num_media_completion", "num_search_results"),
        *("num_fetches", "web_search_engine"),
    )
)
"""Metadata fields that are null for every generation of this gateway."""


class RecentGeneration(NamedTuple):
    """An entry in the list of recent generations."""

    id: str
    made_at: datetime
    model: str
    key_name: str
    """Name of the key; "" if it was deleted."""


def store(db: sqlite3.Connection, **generation: Any) -> None:
    """Store a generation, given by the columns of its table."""
    names = ", ".join(generation)
    values = ", ".join(f":{name}" for name in generation)
    db.execute(f"INSERT INTO generations ({names}) VALUES ({values})", generation)


def find(
    db: sqlite3.Connection, generation_id: str, now: datetime
) -> tuple[dict[str, Any], dict[str, Any] | None] | None:
    """Return the metadata and the content of a generation; None if it does not exist.

    A request can be looked up shortly after its end. The content is None if it was not logged.
    """
    row = db.execute(
        "SELECT details, content FROM generations WHERE id = ? AND shown_from <= ?",
        (generation_id, to_micros(now)),
    ).fetchone()
    return None if row is None else (json.loads(row[0]), json.loads(row[1] or "null"))


def forget_old(db: sqlite3.Connection, now: datetime) -> None:
    """Delete generations that are older than the activity."""
    oldest = to_micros(now - timedelta(days=ACTIVITY_DAYS))
    db.execute("DELETE FROM generations WHERE created_at < ?", (oldest,))


def typical_generation(
    endpoint: CatalogEndpoint, prompt: int, completion: int, *, byok: bool
) -> dict[str, Any]:
    """Return the metadata that all requests of one stream share."""
    workload = endpoint.workloads[0]
    is_chat = workload == "text_generation"
    provider, tier = endpoint.wire["provider_name"], endpoint.wire["service_tier"]
    attempt = {
        "status": 200,
        "provider_name": provider,
        "is_byok": byok,
        "endpoint_id": endpoint.id,
        "model_permaslug": endpoint.wire["model_id"],
        "routed_service_tier": tier,
    }
    return {
        "model": endpoint.model_id,
        "provider_name": provider,
        "is_byok": byok,
        **UNKNOWN_FIELDS,
        "origin": "https://clients.example/",
        "http_referer": None,
        "data_region": "global",
        "native_tokens_reasoning": endpoint.reasoning_tokens(completion),
        "native_tokens_cached": endpoint.cached_tokens(prompt),
        "native_tokens_completion_images": 1 if workload == "image_generation" else None,
        "num_media_prompt": None,
        "num_input_audio_prompt": 1 if workload == "stt" else None,
        "api_type": _API_TYPES.get(workload, workload),
        "streamed": is_chat,
        "latency": round(endpoint.latency_ms),
        "generation_time": round(completion / endpoint.throughput * 1000)
        if is_chat and endpoint.throughput
        else None,
        "service_tier": tier,
        # The contract omits the unknown fields of an attempt.
        "provider_responses": [{name: each for name, each in attempt.items() if each is not None}],
    }


def store_simulated(
    db: sqlite3.Connection, seed: int, key: Document, pieces: Iterable[UsageSlice]
) -> None:
    """Store the last request of each slice, unless its day and kind of work already have one."""
    workspace = WORKSPACES.get(db, key["workspace_id"])
    for piece in pieces:
        sample = f"{key['hash']}|{piece.endpoint_key}|{to_day(piece.moment)}"
        if db.execute("SELECT 1 FROM generations WHERE sample = ?", (sample,)).fetchone():
            continue
        details = _simulated(seed, sample, key, piece)
        is_logged = workspace and workspace["is_observability_io_logging_enabled"]
        store(
            db,
            id=details["id"],
            sample=sample,
            key_hash=key["hash"],
            workspace_id=key["workspace_id"],
            endpoint_key=piece.endpoint_key,
            is_byok=details["is_byok"],
            created_at=to_micros(piece.moment),
            shown_from=to_micros(piece.moment),
            details=json.dumps(details),
            content=json.dumps(_content(seed, details)) if is_logged else None,
        )


def _simulated(seed: int, sample: str, key: Document, piece: UsageSlice) -> dict[str, Any]:
    typical = piece.typical
    is_chat = typical["api_type"] == "completions"
    finish = pick(_FINISHES, seed, sample, "finish") if is_chat else None
    spread = 0.6 + number(seed, sample, "latency") % 110 / 100
    latency, upstream = round(typical["latency"] * spread), f"up-{hex_text(16, seed, sample)}"
    tokens = {
        "prompt": piece.prompt_tokens // piece.requests,
        "completion": piece.completion_tokens // piece.requests,
    }
    upstream_cost = float(piece.byok_usd / piece.requests) if typical["is_byok"] else None
    (attempt,) = typical["provider_responses"]
    return {
        "id": f"gen-{int(piece.moment.timestamp())}-{hex_text(20, seed, sample, 'id')}",
        "request_id": f"req-{hex_text(32, seed, sample, 'request')}",
        "created_at": timestamp_text(piece.moment),
        "model": typical["model"],
        "provider_name": typical["provider_name"],
        "usage": float(piece.usd / piece.requests),
        "total_cost": float(piece.usd / piece.requests),
        "upstream_inference_cost": upstream_cost,
        **typical,
        "upstream_id": upstream,
        "workspace_id": key["workspace_id"],
        "external_user": key["external_user"],
        "user_agent": pick(_USER_AGENTS, seed, key["hash"], "agent"),
        **{f"tokens_{kind}": count for kind, count in tokens.items()},
        **{f"native_tokens_{kind}": count for kind, count in tokens.items()},
        "cancelled": is_chat and finish is None,
        "finish_reason": finish,
        "native_finish_reason": finish,
        "latency": latency,
        "provider_responses": [{**attempt, "latency": latency, "id": upstream}],
    }


def _content(seed: int, details: Mapping[str, Any]) -> dict[str, Any]:
    question = pick(_QUESTIONS, seed, details["id"])
    is_chat, thought = details["api_type"] == "completions", details["native_tokens_reasoning"]
    answer = "A simulated answer: nothing was generated."
    return {
        "input": {"messages": [{"role": "user", "content": question}]}
        if is_chat
        else {"prompt": question},
        "output": {
            "completion": answer if is_chat and not details["cancelled"] else None,
            "reasoning": "A simulated thought." if is_chat and thought else None,
        },
        "error": None,
    }


def recent_generations(database: Path, *, clock: Clock = SYSTEM_CLOCK) -> list[RecentGeneration]:
    """Return the newest generations, newest first.

    Works on an existing database, even while a gateway serves it. Raises DatabaseMissingError and
    DatabaseUnusableError.
    """
    with Database.visit(database) as visited, visited.read() as db:
        rows = db.execute(
            "SELECT generations.id, created_at, json_extract(details, '$.model'), "
            "coalesce(json_extract(document, '$.name'), '') "
            "FROM generations LEFT JOIN keys ON keys.id = key_hash WHERE shown_from <= ? "
            "ORDER BY created_at DESC, generations.number DESC LIMIT ?",
            (to_micros(clock.now()), _LISTED),
        )
        return [RecentGeneration(id, from_micros(at), *names) for id, at, *names in rows]


class FreeUse(NamedTuple):
    """Requests to free variants, without those on own provider keys."""

    limit: int
    """Allowed requests per day: inference contract section 9."""
    today: int
    last_minute: int


def free_use(db: sqlite3.Connection, total_credits: Decimal, now: datetime) -> FreeUse:
    """Return the use of free variants; ``total_credits`` are the account's purchases in USD."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    used = account.requests_to_variant(db, to_day(now), _VARIANT)
    return FreeUse(
        limit=_FREE_A_DAY_OF_A_BUYER if total_credits >= _BUYER_CREDITS else _FREE_A_DAY,
        today=used - _count_free(db, midnight, byok=True),
        last_minute=_count_free(db, now - timedelta(minutes=1), byok=False),
    )


def _count_free(db: sqlite3.Connection, since: datetime, *, byok: bool) -> int:
    (count,) = db.execute(
        "SELECT count(*) FROM generations WHERE sample IS NULL "
        "AND created_at >= ? AND is_byok = ? AND instr(endpoint_key, ?)",
        (to_micros(since), byok, f":{_VARIANT}|"),
    ).fetchone()
    return int(count)
