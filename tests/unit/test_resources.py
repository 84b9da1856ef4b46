"""Rows in lists and detail panes: a full one of each resource, and the variants.

The texts are in ``__snapshots__/test_resources.ambr``: read the difference before you accept it. A
line is a column with its sort value, a labelled row with its note, or a row of a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from guardrail_rows import BOUND, DEFAULT_ID, SPACE, on_key, on_member
from guardrail_rows import bindings as key_bindings
from guardrail_rows import row as guardrail
from pydantic import SecretStr
from syrupy.assertion import SnapshotAssertion

from gwtui.contract.byok import ByokCredential, CreateByokRequest
from gwtui.contract.dialects import OPENROUTER
from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
from gwtui.contract.keys import ApiKey, CurrentKey
from gwtui.contract.models import Endpoint, Model, Pricing, Provider
from gwtui.contract.organization import OrganizationMember, WorkspaceMember
from gwtui.contract.response import ResponseModel
from gwtui.contract.usage import Generation
from gwtui.contract.workspaces import Budget, Workspace
from gwtui.crud.fields import PlanContext
from gwtui.crud.resource import Cell, DetailRow, ResourceSpec
from gwtui.domain.catalog import CatalogView, ModelWithEndpoints
from gwtui.domain.keys import KeyCount
from gwtui.resources.assignments import ASSIGNMENTS
from gwtui.resources.byok import BYOK, CREDENTIALS, provider_warning
from gwtui.resources.generations import ONE_GENERATION
from gwtui.resources.guardrails.resource import GUARDRAILS
from gwtui.resources.keys.current import THIS_KEY
from gwtui.resources.keys.resource import KEYS, binding_of
from gwtui.resources.members import MEMBERS
from gwtui.resources.models.endpoints import ENDPOINTS
from gwtui.resources.models.prices import (
    other_prices,
    other_prices_cell,
    override_rows,
    price_table,
)
from gwtui.resources.models.resource import MODELS, PROVIDERS
from gwtui.resources.models.zdr import ZDR, complete
from gwtui.resources.organization import ORGANIZATION
from gwtui.resources.workspaces import WORKSPACES
from gwtui.ui.widgets.detail import detail_lines
from gwtui.watch.feeds.byok import ByokRow, ranked
from gwtui.watch.feeds.guardrails import AssignmentRow, Bound, GuardrailRow
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.models import EndpointRow, ZdrRow, rows_of
from gwtui.watch.feeds.workspaces import (
    MemberRow,
    Membership,
    PersonRow,
    WorkspaceFigures,
    WorkspaceRow,
    by_interval,
    keys_created_by,
)
from gwtui.watch.history.model import Curve, Point
from resource_samples import (
    NOW,
    WORKSPACE_ID,
    byok_credential,
    endpoint_body,
    key,
    model,
    model_endpoints,
    nulls,
    percentiles,
    provider,
    wire_time,
    workspace,
)


def text(cell: Cell) -> str:
    return cell.text if cell.tone == "plain" else f"{cell.text} [{cell.tone}]"


def lines(spec: ResourceSpec[Any], item: Any, now: datetime) -> Iterator[str]:
    """Everything that the list and the detail pane show of an item."""
    yield f"{spec.name(item)}: {spec.identity(item)}"
    for column in spec.columns:
        yield f"| {column.title}: {text(column.cell(item, now))} ({column.sort(item, now)})"
    for name, facet in spec.facets.items():
        yield f"/ {name}:{facet(item, now)}"
    for section in spec.sections:
        for part in section.content(item, now):
            if isinstance(part, DetailRow):
                note = f" -- {part.note}" if part.note else ""
                yield f"{section.title} > {part.label}: {text(part.value)}{note}"
            else:
                yield f"{section.title} > {' | '.join(part.columns)}"
                for row in part.rows:
                    yield f"{section.title} > {' | '.join(map(text, row))}"


def absent(kind: type[ResponseModel]) -> Any:
    return kind.model_validate({})


HOUR = timedelta(hours=1)


# Keys -------------------------------------------------------------------------------------------


def a_key(**changes: Any) -> KeyRow:
    return KeyRow(key(**changes), workspace())


def bound_key(key_hash: str = "a" * 64, space: str = WORKSPACE_ID, **facts: Any) -> KeyRow:
    return KeyRow(key(), SPACE, binding_of(key_hash, space, key_bindings(**facts)))


FREE = {"limit": None, "limit_remaining": None, "limit_reset": None, "expires_at": None}
KEY_ROWS = {
    "full": a_key(),
    "without limits": a_key(**FREE, last_used_at=None),
    "a limit that never resets": a_key(limit_reset=None),
    "with missing fields": a_key(limit=..., expires_at=..., last_used_at=...),
    "with unreadable fields": a_key(usage_daily="a lot", limit=[1]),
    "overdrawn": a_key(limit_remaining=Decimal("-1.5")),
    "used up": a_key(limit=Decimal(0), limit_remaining=Decimal(0)),
    "expired": a_key(expires_at=wire_time(NOW - timedelta(days=1))),
    "an unknown reset": a_key(limit_reset="fortnightly"),
    "unknown fields": a_key(budget={"scope": "member"}),
    "no hash": a_key(hash=None, label="a"),
    "no workspace": KeyRow(key()),
    "a workspace without a name": KeyRow(key(), workspace(name=None)),
    "its own guardrail": bound_key(),
    "the default guardrail": bound_key("b" * 64),
    "no guardrail": bound_key("b" * 64, "another"),
    "an unknown guardrail": bound_key(keys=None),
    "a guardrail without a name": bound_key(guardrails=None),
    "null": KeyRow(nulls(ApiKey)),
}

# Guardrails and assignments ---------------------------------------------------------------------

NO_FILTERS = {"content_filters": None, "content_filter_builtins": None}
DEFAULT = guardrail(id=DEFAULT_ID, name=f"Workspace {WORKSPACE_ID} Default")
GUARDRAIL_ROWS = {
    "full": guardrail(bound=BOUND),
    "null lists": guardrail(
        bound=BOUND, allowed_models=None, ignored_providers=None, limit_usd=None, **NO_FILTERS
    ),
    "absent lists": guardrail(
        bound=BOUND,
        allowed_models=...,
        ignored_providers=...,
        limit_usd=...,
        content_filters=...,
        content_filter_builtins=...,
    ),
    "unreadable lists": guardrail(
        bound=BOUND, allowed_models="all of them", limit_usd="much", content_filters=3
    ),
    "an unreadable custom filter": guardrail(
        bound=BOUND,
        **{**NO_FILTERS, "content_filters": [{"pattern": "x", "action": "block"}, "no filter"]},
    ),
    "an unreadable builtin filter": guardrail(
        bound=BOUND,
        **{**NO_FILTERS, "content_filter_builtins": [{"slug": "email", "action": "block"}, 7]},
    ),
    "an unreadable model": guardrail(bound=BOUND, allowed_models=["a/b", 7]),
    "an unreadable provider": guardrail(bound=BOUND, ignored_providers=["a/b", 7]),
    "bound to nothing": guardrail(bound=Bound((), ())),
    "bound to what is read later": guardrail(),
    "bound to what is unknown": guardrail(bound=Bound()),
    "bound to unknown members": guardrail(bound=Bound((), None)),
    "bound to many keys": guardrail(
        bound=Bound(tuple(on_key(f"key {number}") for number in range(20)), ())
    ),
    "the default one": DEFAULT,
    "not created yet": guardrail(id=DEFAULT_ID, exists=False, created_at=None),
    "of another dialect": guardrail(
        bound=BOUND,
        dialect=OPENROUTER,
        enable_paid_model_training=False,
        allowed_data_regions=["europe"],
    ),
    "a cap for ever": guardrail(bound=BOUND, reset_interval=None),
    "an unknown reset": guardrail(bound=BOUND, reset_interval="fortnightly"),
    "null": GuardrailRow(nulls(Guardrail)),
}
ADA = OrganizationMember.model_validate(
    {"id": "user_7", "email": "a@b.test", "first_name": "Ada", "last_name": None, "role": "x"}
)
ASSIGNMENT_ROWS = {
    "full": AssignmentRow(on_key(), guardrail()),
    "of a member": AssignmentRow(on_member(), None, ADA),
    "of nobody": AssignmentRow(nulls(MemberAssignment)),
    "of no key": AssignmentRow(nulls(KeyAssignment)),
}

# Workspaces, members, people --------------------------------------------------------------------


def budget(interval: str | None, limit: Any) -> Budget:
    return Budget.model_validate({"limit_usd": limit, "reset_interval": interval})


def a_space(**figures: Any) -> WorkspaceRow:
    return WorkspaceRow(workspace(default_guardrail_id="g-1"), WorkspaceFigures(**figures))


def member(user: str = "user_1", **more: Any) -> WorkspaceMember:
    body = {"id": "m", "workspace_id": "w", "user_id": user, "role": "member"}
    return WorkspaceMember.model_validate({**body, "created_at": wire_time(NOW), **more})


def person(**more: Any) -> OrganizationMember:
    body = {"id": "user_1", "email": "ana@example.test", "role": "org:admin"}
    return OrganizationMember.model_validate(
        {**body, "first_name": "Ana", "last_name": None, **more}
    )


BUDGETS = by_interval([budget("daily", 10), budget("monthly", 100), budget(None, 5000)])
SPENT = {"daily": Decimal("2.5"), "monthly": Decimal(85), "lifetime": Decimal(900)}
SOON = wire_time(NOW + timedelta(minutes=5))
COUNTED = KeyCount.of(
    [key(expires_at=None), key(expires_at=SOON), key(disabled=True), key(disabled=...)]
)
STORED_GUARDRAIL = Guardrail.model_validate({"id": "g-1", "name": "Everything"})
SPACE_ROWS = {
    "full": a_space(
        budgets=BUDGETS, spent=SPENT, keys=COUNTED, guardrails={"g-1": STORED_GUARDRAIL}
    ),
    "figures not read yet": WorkspaceRow(workspace()),
    "unreadable figures": a_space(faults=("keys: no",)),
    "a budget overspent": a_space(budgets=BUDGETS, spent={**SPENT, "daily": Decimal(12)}),
    "unknown spending": a_space(budgets=BUDGETS),
    "no budget": a_space(budgets={}),
    "a default guardrail not created yet": a_space(guardrails={}),
    "unknown guardrails": a_space(guardrails=None),
    "settings not set": WorkspaceRow(
        workspace(default_text_model=None, is_observability_io_logging_enabled=False)
    ),
    "some logged keys": WorkspaceRow(workspace(io_logging_api_key_ids=[3, 14])),
    "absent": WorkspaceRow(absent(Workspace)),
}
MEMBER_ROWS = {
    "full": MemberRow(
        member(),
        person(),
        keys_created_by([key(creator_user_id="user_1"), key(creator_user_id="x")], "user_1"),
    ),
    "without a name": MemberRow(member(), person(first_name=None), ()),
    "not in the organization": MemberRow(member(), None),
    "with unknown keys": MemberRow(member(), person(), None, ("keys: refused",)),
    "with idle keys": MemberRow(
        member(), person(), (key(creator_user_id="user_1", disabled=True),)
    ),
    "with many keys": MemberRow(member(), person(), (key(expires_at=None),) * 21),
}
PEOPLE_ROWS = {
    "full": PersonRow(person(), (Membership(workspace(), member(role="admin")),)),
    "workspaces not read yet": PersonRow(person()),
    "in no workspace": PersonRow(person(), ()),
}

# Credentials ------------------------------------------------------------------------------------


def credential(**fields: Any) -> ByokRow:
    return ranked([ByokRow(byok_credential(**fields), workspace())])[0]


LISTED = credential(allowed_api_key_hashes=["ab" * 32], allowed_user_ids=["u1"])
BYOK_ROWS = {
    "full": credential(),
    "for no model": credential(allowed_models=[]),
    "for one model": credential(allowed_models=["acme/m1"]),
    "for two models": credential(allowed_models=["acme/m1", "acme/m2"]),
    "for unknown models": credential(allowed_models=...),
    "for keys and members": LISTED,
    "with their names": replace(LISTED, names={"ab" * 32: "ci", "u1": "Ada"}),
    "a fallback": credential(is_fallback=True),
    "BYOK only": credential(is_byok_only=True, is_required=True),
    "disabled": credential(disabled=True),
    "for every workspace": ByokRow(credential(workspace_id=None).credential),
    "absent": ByokRow(absent(ByokCredential)),
}

# The catalog ------------------------------------------------------------------------------------


def an_endpoint(*, keyless: bool = False, **changes: Any) -> EndpointRow:
    [row] = rows_of(model_endpoints(endpoint_body(**changes)), keyless=keyless)
    return row


WORKLOAD = {"latency": percentiles("1", "2", "3", "4"), "throughput": None, "request_count": 3}
QUIET = Curve(HOUR, (Point(NOW, "null"),))
USED = Curve(HOUR, (Point(NOW, "value", Decimal(300), Decimal(1200), Decimal(500)),))
PAST = {"uptime_last_5m": QUIET, "latency_p50": USED, "throughput_p50": USED}
UPTIMES = ("uptime_last_5m", "uptime_last_30m", "uptime_last_1d")
ENDPOINT_ROWS = {
    "full": an_endpoint(),
    "no traffic": an_endpoint(
        latency_last_30m=None,
        throughput_last_30m=None,
        perf_last_30m_by_workload=None,
        **dict.fromkeys(UPTIMES),
    ),
    "without a key": an_endpoint(
        keyless=True, throughput_last_30m=None, perf_last_30m_by_workload=None
    ),
    "latency without throughput": an_endpoint(throughput_last_30m=None),
    "missing latency": an_endpoint(latency_last_30m=...),
    "a missing percentile": an_endpoint(latency_last_30m={"p50": 1, "p75": 2, "p90": 3}),
    "an unknown workload": an_endpoint(perf_last_30m_by_workload={"telepathy": WORKLOAD}),
    "without a discount": an_endpoint(
        pricing={"prompt": "0", "completion": "0.000015", "discount": 0}
    ),
    "unknown conditions": an_endpoint(
        pricing={"prompt": "1", "overrides": [{"moon": "full"}, {"utc_start": "late"}]}
    ),
    "a price by the route": an_endpoint(pricing={"prompt": "-1", "completion": "-1"}),
    "an unknown price": an_endpoint(pricing={"prompt": "0", "completion": "0", "video": "0.5"}),
    "unknown values": an_endpoint(quantization="fp3", service_tier="express", status=-42),
    "with its past": replace(an_endpoint(), past=PAST),
    "a variant": an_endpoint(tag="northwind/flex"),
    "no variant": an_endpoint(tag="northwind"),
    "no tag": an_endpoint(tag=None),
    "no provider": an_endpoint(provider_name=None, name=None, tag="northwind/flex"),
    "null": EndpointRow(nulls(Endpoint), "x"),
}
MODEL_ROWS = {
    "full": model(),
    "never withdrawn": model(expiration_date=None),
    "withdrawn some day": model(expiration_date="some day"),
    "discounted": model(
        pricing={"prompt": "0.000003", "completion": "0", "discount": Decimal("0.5")}
    ),
    "priced by the image": model(
        pricing={"prompt": "0", "completion": "0", "image_output": "0.04"}
    ),
    "free": model(pricing={"prompt": "0", "completion": "0", "image_output": "0"}),
    "created beyond the calendar": model(created=10**18),
    "unknown modalities": model(
        architecture={
            "modality": None,
            "input_modalities": ["smell"],
            "output_modalities": ["dreams"],
        }
    ),
    "with traits": model(
        per_request_limits={"prompt_tokens": 8000, "completion_tokens": None},
        reasoning={
            "mandatory": False,
            "default_enabled": True,
            "default_effort": "medium",
            "supported_efforts": ["low", "medium"],
        },
        supported_voices=["alto", "bass"],
        default_parameters={"temperature": Decimal("0.7"), "top_p": None},
        hugging_face_id="aurora/Glass-2",
        alias_target={"name": "Glass 3", "slug": "aurora/glass-3"},
        benchmarks={"intelligence": Decimal("61.5")},
    ),
    "without defaults": model(default_parameters=None),
    "always reasoning": model(reasoning={"mandatory": True}),
    "null": nulls(Model),
}
PROVIDER_ROWS = {"full": provider(), "absent": absent(Provider)}


def remaining(provider_name: str, uptime: float = 100) -> Endpoint:
    name = provider_name.lower()
    return Endpoint.model_validate(
        {"model_id": "acme/m1", "provider_name": provider_name, "tag": name, "status": 0}
        | dict.fromkeys(UPTIMES, uptime)
    )


ACME = Model.model_validate({"id": "acme/m1", "canonical_slug": "acme/m1", "name": "M1"})
A, B = remaining("A"), remaining("B")
VIEW = CatalogView((ModelWithEndpoints(ACME, (A, B)),), {})
ZDR_ROWS = {
    "full": complete(ZdrRow(ACME, (A, B)), VIEW),
    "loses one": complete(ZdrRow(ACME, (A,)), VIEW),
    "unavailable": complete(ZdrRow(ACME, ()), VIEW),
    "of unknown endpoints": ZdrRow(ACME, (A,)),
    "of none": ZdrRow(ACME, ()),
    "none healthy": ZdrRow(ACME, (remaining("A", 10),)),
}

# The key in use, generations --------------------------------------------------------------------

LAYER = {
    "scope": "workspace",
    "limit_usd": 10,
    "spend_usd": 12,
    "remaining_usd": -2,
    "reset_interval": "daily",
    "resets_at": "2026-11-22T00:00:00Z",
    "include_byok": False,
}
THIS_KEY_ROWS = {
    "full": CurrentKey.model_validate(
        {"is_management_key": True, "effective_budget": LAYER, "budgets": [LAYER]}
    ),
    "not for management": CurrentKey.model_validate({"is_management_key": False}),
    "without a budget": CurrentKey.model_validate({"effective_budget": None, "budgets": []}),
    "absent": absent(CurrentKey),
}
GENERATION_ROWS = {
    "full": Generation.model_validate(
        {
            "latency": 320,
            "generation_time": 2500,
            "native_tokens_completion": 500,
            "total_cost": 0.00042,
            "service_tier": None,
            "provider_responses": [
                {"status": 500, "provider_name": "A", "latency": 90},
                {"status": 200, "provider_name": "B", "latency": 2500, "is_byok": True},
            ],
        }
    ),
    "odd tries": Generation.model_validate(
        {"provider_responses": [{"latency": True, "status": [], "is_byok": "x"}, {}]}
    ),
    "absent": absent(Generation),
}

SAMPLES: tuple[tuple[ResourceSpec[Any], Mapping[str, Any]], ...] = (
    (KEYS, KEY_ROWS),
    (GUARDRAILS, GUARDRAIL_ROWS),
    (ASSIGNMENTS, ASSIGNMENT_ROWS),
    (WORKSPACES, SPACE_ROWS),
    (MEMBERS, MEMBER_ROWS),
    (ORGANIZATION, PEOPLE_ROWS),
    (BYOK, BYOK_ROWS),
    (ENDPOINTS, ENDPOINT_ROWS),
    (MODELS, MODEL_ROWS),
    (PROVIDERS, PROVIDER_ROWS),
    (ZDR, ZDR_ROWS),
    (THIS_KEY, THIS_KEY_ROWS),
    (ONE_GENERATION, GENERATION_ROWS),
)
CASES = {
    f"{spec.id}: {name}": (spec, rows["full"], item)
    for spec, rows in SAMPLES
    for name, item in rows.items()
}


@pytest.mark.parametrize("case", CASES)
def test_resources(case: str, snapshot: SnapshotAssertion) -> None:
    spec, full, item = CASES[case]
    usual = [] if item is full else [*lines(spec, full, NOW)]
    changed = [line for line in lines(spec, item, NOW) if line not in usual]
    assert "\n".join(changed) == snapshot


LATER = {"keys: full": timedelta(days=29), "endpoints: full": timedelta(hours=11)}


@pytest.mark.parametrize("case", LATER)
def test_relative_times_follow_the_clock(case: str, snapshot: SnapshotAssertion) -> None:
    spec, _, item = CASES[case]
    usual = [*lines(spec, item, NOW)]
    moved = [line for line in lines(spec, item, NOW + LATER[case]) if line not in usual]
    assert "\n".join(moved) == snapshot


@pytest.mark.parametrize(("spec", "number"), [(KEYS, 6), (GUARDRAILS, 5), (ENDPOINTS, 6)])
def test_the_first_columns_fit_into_eighty_cells(spec: ResourceSpec[Any], number: int) -> None:
    essential = spec.columns[:number]
    assert sum(column.width for column in essential) + 2 * number <= 80


LABELS = {
    *(
        "name",
        "state",
        "workspace",
        "workspace id",
        "masked key",
        "id (hash)",
        "creator",
        "external user",
    ),
    *("limit", "used", "remaining", "BYOK in limit", "reset", "next reset"),
    *("USD", "today (UTC)", "this week", "this month", "all time"),
    *("assigned", "default", "created", "changed", "last used", "expires"),
}


def places(item: KeyRow, width: int) -> dict[str, int]:
    """The line of each label and title."""
    lines = [line.plain for line in detail_lines(KEYS, item, NOW, width)]
    titles = {"Identity", "Limit", "Usage", "Guardrails", "Lifecycle"}
    labels = {line.split("  ")[0]: number for number, line in enumerate(lines)}
    positions = {label: number for label, number in labels.items() if label in titles | LABELS}
    assert len(positions) == len(titles | LABELS)
    return positions


def test_a_role_is_filtered_as_it_is_displayed() -> None:
    role = next(column for column in ORGANIZATION.columns if column.id == "role")
    row = PEOPLE_ROWS["full"]
    assert role.sort(row, NOW) == role.cell(row, NOW).text == "admin"


def test_the_main_rows_of_a_key_fit_a_small_terminal() -> None:
    wide = places(KEY_ROWS["full"], 78)
    assert max(wide[label] for label in ("state", "limit", "used", "remaining", "reset")) < 20


def test_every_field_of_a_generation_is_shown() -> None:
    """Each field by itself changes the text."""

    def lines_of(generation: Generation) -> list[str]:
        # The last sections list missing and unknown fields.
        declared = replace(ONE_GENERATION, sections=ONE_GENERATION.sections[:-2])
        return [*lines(declared, generation, NOW)]

    empty = lines_of(absent(Generation))
    moment = "2026-11-20T00:00:00Z"
    values = {"bool": True, "int": 7, "Decimal": 7, "datetime": moment, "list": [{}]}
    for name, field in Generation.model_fields.items():
        kind = str(field.annotation)
        value = next((generation for word, generation in values.items() if word in kind), "text")
        assert lines_of(Generation.model_validate({name: value})) != empty, name


# The order of credentials -------------------------------------------------------------------------


def row(name: str, **fields: Any) -> ByokRow:
    return ByokRow(byok_credential(name, **{"workspace_id": "w1", **fields}), workspace())


def in_order(*rows: ByokRow) -> list[tuple[str, int | None]]:
    result = sorted(ranked(rows), key=lambda item: item.order)
    return [(item.credential.name or "", item.place) for item in result]


def test_fallbacks_come_last_and_disabled_ones_are_not_tried() -> None:
    assert in_order(
        row("late", sort_order=7),
        row("fallback", is_fallback=True, sort_order=0),
        row("off", disabled=True, sort_order=1),
        row("first", sort_order=2),
    ) == [("off", None), ("first", 1), ("late", 2), ("fallback", 3)]


def test_each_provider_and_workspace_has_an_order_of_its_own() -> None:
    rows = (
        row("b", provider="mistral", sort_order=1),
        row("a", provider="mistral", sort_order=0),
        row("elsewhere", provider="mistral", sort_order=0, workspace_id="w2"),
        row("z", provider="anthropic", sort_order=4),
    )
    places = dict(in_order(*rows))
    assert places == {"z": 1, "a": 1, "b": 2, "elsewhere": 1}
    assert in_order(*rows)[0] == ("z", 1)


LISTED_PROVIDERS = [
    Provider.model_validate({"slug": "openai", "name": "OpenAI"}),
    Provider.model_validate({"slug": "kestrel", "name": "Kestrel Inference"}),
    Provider.model_validate({"slug": None, "name": "No slug"}),
]


@pytest.mark.parametrize(
    ("provider", "listed", "ending"),
    [
        ("openai", True, ""),
        ("opneai", False, "The gateway lists no provider 'opneai'; did you mean 'openai'?"),
        ("OpenAI", False, "The gateway lists no provider 'OpenAI'; did you mean 'openai'?"),
        ("kestrel inference", False, "no provider 'kestrel inference'; did you mean 'kestrel'?"),
        ("No slug", False, "The gateway lists no provider 'No slug'."),
        ("zzz", False, "The gateway lists no provider 'zzz'."),
    ],
)
def test_a_provider_is_compared_with_those_of_the_gateway(
    provider: str, listed: bool, ending: str
) -> None:
    warning = provider_warning(provider, LISTED_PROVIDERS)
    assert warning.endswith(ending)
    assert bool(warning) is not listed
    request = CreateByokRequest(provider="openai", key=SecretStr("sk-provider"))
    expected = (warning,) if warning else ()
    context = PlanContext(datetime(2026, 11, 21, tzinfo=UTC))
    assert CREDENTIALS.plan_create(request, context, warning).warnings == expected


def test_an_empty_provider_list_gives_no_warning() -> None:
    assert provider_warning("openai", LISTED_PROVIDERS[2:]) == provider_warning("openai", ()) == ""


# Prices -------------------------------------------------------------------------------------------


def test_the_first_other_price_is_shown_and_the_rest_are_counted() -> None:
    several = model_pricing(image="0.002", audio="0.000032", request="0.01")
    prices = other_prices(several)
    first = prices.split(", ")[0]
    assert other_prices_cell(several).text == f"{first} +{prices.count(', ')}"
    assert other_prices_cell(model_pricing(image="0.002")).text == "$0.002/image in"
    assert other_prices_cell(model_pricing()).text == "—"
    assert other_prices_cell(None).text == "—"


def test_an_override_shows_its_conditions_its_prices_and_whether_it_is_in_force() -> None:
    pricing = model_pricing(
        discount="0.1",
        overrides=[
            {"min_prompt_tokens": 5_000, "prompt": "0.000002"},
            {"utc_days": [NOW.strftime("%A").lower()], "completion": "0", "request": "?"},
            {"moon": "full", "prompt": "0"},
        ],
    )
    rows = override_rows(pricing, NOW)
    assert [(row.label, row.value.text, row.note) for row in rows[:3]] == [
        ("1.", "prompts over 5,000 tokens", "prompt $1.80/M tokens"),
        ("2.", f"{NOW:%a} (now)", "completion free/M tokens, request —"),
        ("3.", "always: left out, its condition moon is not known", "prompt free/M tokens"),
    ]
    assert "the later one wins" in rows[3].value.text


@pytest.mark.parametrize(("discount", "rows"), [("0.5", 1), ("1.5", 2), ("-1", 2)])
def test_an_impossible_discount_is_ignored_and_named(discount: str, rows: int) -> None:
    table, *notes = price_table(model_pricing(discount=Decimal(discount)))
    assert len([table, *notes]) == rows
    for note in notes:
        assert isinstance(note, DetailRow)
        assert note.value.text == f"{discount} is ignored: it is not between 0 and 1"


def model_pricing(**prices: object) -> Pricing:
    return Pricing.model_validate({"prompt": "0.000001", "completion": "0", **prices})
