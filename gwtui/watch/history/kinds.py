"""The kinds of change: ``RESOURCE.EVENT``, where the event is one that a person would name."""

from __future__ import annotations

from pydantic import JsonValue

ENDPOINT_APPEARED = "endpoint.appeared"
ENDPOINT_GONE = "endpoint.gone"
ENDPOINT_PRICE = "endpoint.price"
ENDPOINT_STATUS = "endpoint.status"
ENDPOINT_CHANGED = "endpoint.changed"
KEY_CREATED = "key.created"
KEY_DELETED = "key.deleted"
KEY_DISABLED = "key.disabled"
KEY_ENABLED = "key.enabled"
KEY_CHANGED = "key.changed"
WORKSPACE_CREATED = "workspace.created"
WORKSPACE_DELETED = "workspace.deleted"
WORKSPACE_BUDGET = "workspace.budget"
WORKSPACE_CHANGED = "workspace.changed"
GUARDRAIL_CREATED = "guardrail.created"
GUARDRAIL_DELETED = "guardrail.deleted"
GUARDRAIL_CHANGED = "guardrail.changed"
CREDITS_PURCHASED = "credits.purchased"
CREDITS_CHANGED = "credits.changed"

KINDS = (
    ENDPOINT_APPEARED,
    ENDPOINT_GONE,
    ENDPOINT_PRICE,
    ENDPOINT_STATUS,
    ENDPOINT_CHANGED,
    KEY_CREATED,
    KEY_DELETED,
    KEY_DISABLED,
    KEY_ENABLED,
    KEY_CHANGED,
    WORKSPACE_CREATED,
    WORKSPACE_DELETED,
    WORKSPACE_BUDGET,
    WORKSPACE_CHANGED,
    GUARDRAIL_CREATED,
    GUARDRAIL_DELETED,
    GUARDRAIL_CHANGED,
    CREDITS_PURCHASED,
    CREDITS_CHANGED,
)
"""Every kind there is."""

PRICE_FIELDS = ("price_", "discount", "overrides")
"""Facts of an endpoint whose names begin so are about what it costs."""
BUDGET_FIELDS = ("budget_",)
"""Facts of a workspace whose names begin so are about its budgets."""


def came(resource: str) -> str:
    """The kind of a subject that is there now and was not."""
    return f"{resource}.appeared" if resource == "endpoint" else f"{resource}.created"


def went(resource: str) -> str:
    """The kind of a subject that was there and is not."""
    return f"{resource}.gone" if resource == "endpoint" else f"{resource}.deleted"


def changed(resource: str, field: str, after: JsonValue) -> str:
    """The kind of a field that is another one now."""
    match resource, field:
        case "endpoint", "status":
            return ENDPOINT_STATUS
        case "endpoint", _ if field.startswith(PRICE_FIELDS):
            return ENDPOINT_PRICE
        case "key", "disabled":
            return KEY_DISABLED if after is True else KEY_ENABLED
        case "workspace", _ if field.startswith(BUDGET_FIELDS):
            return WORKSPACE_BUDGET
        case "credits", "total_credits":
            return CREDITS_PURCHASED
    return f"{resource}.changed"
