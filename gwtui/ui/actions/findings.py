"""Actions on findings: the same plans as in the list of the affected resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gwtui.client.errors import NotSentError
from gwtui.crud.resource import Scope
from gwtui.resources.actions import by_id
from gwtui.resources.choices import value_soon
from gwtui.resources.findings import remedy_of
from gwtui.resources.registry import RESOURCES
from gwtui.ui.actions.context import ActionContext, Handler

if TYPE_CHECKING:
    from gwtui.domain.findings import AccountFinding


async def fix(context: ActionContext[AccountFinding]) -> None:
    """Start the action that fixes the finding, on the affected row."""
    app, finding = context.app, context.target
    way = remedy_of(finding)
    if way is None:
        app.say(finding.advice or "No request can fix this")
        return
    found = await _subject(context)
    if context.covered:
        return
    if way.action == "keys.toggle" and found.target.key.disabled is not False:
        # The action would switch it on again.
        app.say("The key is already disabled, or its state is unknown")
        return
    await app.perform(by_id(way.action), replace(found, argument=way.field))


async def _subject(context: ActionContext[AccountFinding]) -> ActionContext[Any]:
    """The affected row, from its own list. Raises NotSentError if it is missing."""
    one = context.target.subject
    spec = RESOURCES[one.resource]
    rows = await value_soon(spec.feed(context.app.hub, Scope()))
    if rows is None:
        raise NotSentError(f"The {spec.plural or spec.singular + 's'} could not be read")
    row = next((row for row in rows if spec.identity(row) == one.identity), None)
    if row is None:
        raise NotSentError(f"This {spec.singular} no longer exists")
    return replace(context, spec=spec, target=row, identity=one.identity)


HANDLERS: Mapping[str, Handler] = {"findings.fix": fix}
