"""What can be read and changed without the dashboard: one line for each resource."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DECLARED = "declared"
"""The changes of a resource are those that its declaration's ``Writes`` allow."""

Parent = Literal["model", "workspace", "guardrail", "key"]
"""What the rows of a list belong to."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of the command line; nothing is imported before one of its verbs is called.

    ``declaration`` is the ResourceSpec that the dashboard draws, as "module:NAME". ``changes`` are
    the verbs beside those that read, also so; of a module alone they are its CHANGES. ``parent`` is
    what must be named to list it; with ``any_parent`` it may be left out. Of a ``single`` one there
    is one object. The list of a ``brief`` one does without what completes its rows: that takes a
    request for each of them. What is only ``by_id`` is in no list: whoever asks for it has to know
    its identifier.
    ``reads`` are verbs that read it in a way of their own, also as "module:NAME".
    """

    id: str
    help: str
    declaration: str
    changes: str = ""
    parent: Parent | None = None
    any_parent: bool = False
    single: bool = False
    brief: bool = False
    by_id: bool = False
    reads: str = ""


RESOURCES: dict[str, Resource] = {
    resource.id: resource
    for resource in (
        Resource(
            "credits",
            "the account's balance",
            "gwtui.resources.credits:CREDITS",
            single=True,
        ),
        Resource(
            "keys", "API keys", "gwtui.resources.keys.resource:KEYS", "gwtui.cli.changes.keys"
        ),
        Resource("key", "the key in use", "gwtui.resources.keys.current:THIS_KEY", single=True),
        Resource(
            "workspaces",
            "workspaces",
            "gwtui.resources.workspaces.resource:WORKSPACES",
            "gwtui.cli.changes.workspaces",
        ),
        Resource(
            "budgets",
            "budgets of a workspace",
            "gwtui.resources.budgets:BUDGETS",
            "gwtui.cli.changes.workspaces:BUDGETS",
            parent="workspace",
        ),
        Resource(
            "members",
            "members of a workspace",
            "gwtui.resources.members:MEMBERS",
            "gwtui.cli.changes.workspaces:MEMBERS",
            parent="workspace",
        ),
        Resource("organization", "people", "gwtui.resources.organization:ORGANIZATION"),
        Resource(
            "settings",
            "settings of the organization",
            "gwtui.resources.organization:SETTINGS",
            DECLARED,
            single=True,
        ),
        Resource(
            "guardrails",
            "guardrails",
            "gwtui.resources.guardrails.resource:GUARDRAILS",
            "gwtui.cli.changes.guardrails",
        ),
        Resource(
            "assignments",
            "what guardrails are assigned to",
            "gwtui.resources.assignments:ASSIGNMENTS",
            parent="guardrail",
            any_parent=True,
        ),
        Resource(
            "byok",
            "provider credentials",
            "gwtui.resources.byok:BYOK",
            DECLARED,
        ),
        Resource("models", "the catalog", "gwtui.resources.models.resource:MODELS"),
        Resource(
            "user-models", "models of the key in use", "gwtui.resources.models.resource:USER_MODELS"
        ),
        Resource(
            "endpoints",
            "endpoints of a model",
            "gwtui.resources.models.endpoints:ENDPOINTS",
            parent="model",
        ),
        Resource(
            "all-endpoints",
            "endpoints of all models; a request for each model",
            "gwtui.resources.models.endpoints:EVERY_ENDPOINT",
        ),
        Resource(
            "model-guardrails",
            "what guardrails leave of a model",
            "gwtui.resources.guardrails.effect:MODEL_GUARDRAILS",
            parent="model",
        ),
        Resource(
            "zdr", "models under zero data retention", "gwtui.resources.models.zdr:ZDR", brief=True
        ),
        Resource("providers", "providers", "gwtui.resources.models.resource:PROVIDERS"),
        Resource(
            "activity",
            "what was used, day by day",
            "gwtui.resources.activity:ACTIVITY_DAYS",
            parent="key",
            any_parent=True,
            reads="gwtui.cli.lists.activity:VERBS",
        ),
        Resource(
            "generation",
            "a request by the id that its answer named",
            "gwtui.resources.generations:ONE_GENERATION",
            "gwtui.cli.changes.generation",
            by_id=True,
        ),
        Resource(
            "rotations",
            "rotations of keys begun from this machine",
            "gwtui.resources.rotations:ROTATIONS",
            "gwtui.cli.changes.keys:ROTATION_CHANGES",
        ),
        Resource(
            "recovery",
            "writes to settle: lost answers, new keys that nobody stored",
            "gwtui.resources.recovery:DOUBTS",
            "gwtui.cli.changes.keys:RECOVERY_CHANGES",
        ),
    )
}
