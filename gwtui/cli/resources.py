"""What can be read and changed without the dashboard: one line for each resource."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Parent = Literal["model", "workspace", "guardrail", "key"]
"""What the rows of a list belong to."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of the command line; nothing is imported before one of its verbs is called.

    ``declaration`` is the ResourceSpec that the dashboard draws, as "module:NAME". ``changes`` is
    the module whose CHANGES change it. ``parent`` is what must be named to list it; with
    ``any_parent`` it may be left out. Of a ``single`` one there is one object. The list of a
    ``brief`` one does without what completes its rows: that takes a request for each of them. What
    is only ``by_id`` is in no list: whoever asks for it has to know its identifier.
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


_DECLARED = "gwtui.ui.resources"
_CHANGES = "gwtui.cli.changes"

RESOURCES: dict[str, Resource] = {
    resource.id: resource
    for resource in (
        Resource("credits", "the account's balance", f"{_DECLARED}.credits:CREDITS", single=True),
        Resource("keys", "API keys", f"{_DECLARED}.keys:KEYS", f"{_CHANGES}.keys"),
        Resource("key", "the key in use", f"{_DECLARED}.this_key:THIS_KEY", single=True),
        Resource(
            "workspaces",
            "workspaces",
            f"{_DECLARED}.workspaces:WORKSPACES",
            f"{_CHANGES}.workspaces",
        ),
        Resource(
            "budgets",
            "budgets of a workspace",
            f"{_DECLARED}.budgets:BUDGETS",
            f"{_CHANGES}.budgets",
            parent="workspace",
        ),
        Resource(
            "members",
            "members of a workspace",
            f"{_DECLARED}.members:MEMBERS",
            f"{_CHANGES}.members",
            parent="workspace",
        ),
        Resource("organization", "people", f"{_DECLARED}.organization:ORGANIZATION"),
        Resource(
            "settings",
            "settings of the organization",
            f"{_DECLARED}.settings:SETTINGS",
            f"{_CHANGES}.settings",
            single=True,
        ),
        Resource(
            "guardrails",
            "guardrails",
            f"{_DECLARED}.guardrails:GUARDRAILS",
            f"{_CHANGES}.guardrails",
        ),
        Resource(
            "assignments",
            "what guardrails are assigned to",
            f"{_DECLARED}.assignments:ASSIGNMENTS",
            parent="guardrail",
            any_parent=True,
        ),
        Resource("byok", "provider credentials", f"{_DECLARED}.byok:BYOK", f"{_CHANGES}.byok"),
        Resource("models", "the catalog", f"{_DECLARED}.models:MODELS"),
        Resource("user-models", "models of the key in use", f"{_DECLARED}.models:USER_MODELS"),
        Resource(
            "endpoints",
            "endpoints of a model",
            f"{_DECLARED}.endpoints:ENDPOINTS",
            parent="model",
        ),
        Resource(
            "model-guardrails",
            "what guardrails leave of a model",
            f"{_DECLARED}.model_guardrails:MODEL_GUARDRAILS",
            parent="model",
        ),
        Resource("zdr", "models under zero data retention", f"{_DECLARED}.zdr:ZDR", brief=True),
        Resource("providers", "providers", f"{_DECLARED}.providers:PROVIDERS"),
        Resource(
            "activity",
            "what was used, day by day",
            f"{_DECLARED}.activity_days:ACTIVITY_DAYS",
            parent="key",
            any_parent=True,
        ),
        Resource(
            "generation",
            "a request by the id that its answer named",
            f"{_DECLARED}.one_generation:ONE_GENERATION",
            f"{_CHANGES}.generation",
            by_id=True,
        ),
        Resource(
            "recovery", "writes of which nobody knows the outcome", f"{_DECLARED}.doubts:DOUBTS"
        ),
    )
}
