"""The rules of guardrails that differ between dialects.

Contract "Content filter rules"; extended contract section 5 and the drift table.
"""

from __future__ import annotations

from gwtui.contract.content_filters import (
    BUILTIN_SLUGS,
    FILTER_ACTIONS,
    PII_SLUGS,
    PROMPT_INJECTION,
    FilterAction,
)
from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrails import CreateGuardrailRequest, UpdateGuardrailRequest
from gwtui.contract.request import Problem


def legal_actions(slug: str, dialect: Dialect) -> tuple[FilterAction, ...]:
    """What a builtin filter may do with a match."""
    if dialect.flags_every_filter or slug == PROMPT_INJECTION:
        return FILTER_ACTIONS
    return ("block", "redact")


def never_sent(
    request: CreateGuardrailRequest | UpdateGuardrailRequest, dialect: Dialect
) -> list[Problem]:
    """Why this program does not send a guardrail: what the dialect refuses, and what is deprecated.

    The gateway takes the deprecated switch, but what it then does to the others is not shown.
    """
    found = guardrail_problems(request, dialect)
    if "enforce_zdr" in request.model_fields_set:
        found.append(Problem("enforce_zdr", "is deprecated: give the switch of each vendor"))
    return found


def guardrail_problems(
    request: CreateGuardrailRequest | UpdateGuardrailRequest, dialect: Dialect
) -> list[Problem]:
    """What a dialect refuses in a guardrail that is otherwise valid.

    A filter or an action that the contract does not know can only have come from the service
    itself, on its way back unchanged: no rule here is about it.
    """
    absent = dialect.absent_fields.get(type(request).__name__, frozenset())
    found = [
        Problem(name, "is not a field of this service's guardrails")
        for name in type(request).model_fields
        if name in absent and name in request.model_fields_set
    ]
    for index, builtin in enumerate(request.content_filter_builtins or ()):
        legal = legal_actions(builtin.slug, dialect)
        known = builtin.slug in BUILTIN_SLUGS and builtin.action in FILTER_ACTIONS
        if known and builtin.action not in legal:
            kind = "PII filters" if builtin.slug in PII_SLUGS else builtin.slug
            message = f"{kind} can only {' or '.join(legal)}, not {builtin.action}"
            found.append(Problem(f"content_filter_builtins.{index}.action", message))
    if (
        dialect.cap_needs_interval
        and isinstance(request, CreateGuardrailRequest)
        and (request.limit_usd is None) != (request.reset_interval is None)
    ):
        lacking = "limit_usd" if request.limit_usd is None else "reset_interval"
        message = "limit_usd and reset_interval must be given together"
        found.append(Problem(lacking, message))
    return found
