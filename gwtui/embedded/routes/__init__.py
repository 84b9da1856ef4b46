"""Every operation of the gateway: one module per resource, one line here."""

from __future__ import annotations

from gwtui.embedded.operations import Operation
from gwtui.embedded.routes import (
    activity,
    assignments,
    budgets,
    byok,
    credits,
    current_key,
    description,
    endpoints,
    generations,
    guardrails,
    keys,
    members,
    models,
    organization,
    providers,
    workspaces,
    zdr,
)

OPERATIONS: tuple[Operation, ...] = (
    *keys.OPERATIONS,
    *current_key.OPERATIONS,
    *credits.OPERATIONS,
    *activity.OPERATIONS,
    *generations.OPERATIONS,
    *models.OPERATIONS,
    *endpoints.OPERATIONS,
    *zdr.OPERATIONS,
    *providers.OPERATIONS,
    *workspaces.OPERATIONS,
    *members.OPERATIONS,
    *budgets.OPERATIONS,
    *organization.OPERATIONS,
    *guardrails.OPERATIONS,
    *assignments.OPERATIONS,
    *byok.OPERATIONS,
    *description.OPERATIONS,
)
