"""Confirm a plan in the terminal, execute its requests, and print the outcome."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from gwtui.cli import exits
from gwtui.cli.output import (
    OutputLostError,
    data_on_stdout,
    narrate,
    narrate_lines,
    print_json,
    print_value,
)
from gwtui.cli.prompts import await_line
from gwtui.contract.keys import CreatedKey
from gwtui.contract.response import ResponseModel
from gwtui.crud.plan import Applied, Confirmation, ConfirmationKind, Outcome, Plan, Refused, Unknown
from gwtui.crud.plan_text import displayed
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.safe_text import safe_line
from gwtui.domain.serialize import masked
from gwtui.resources.keys.writes import WRITES as KEYS
from gwtui.watch.feeds.ledger import unresolved_feed

if TYPE_CHECKING:
    from argparse import Namespace

    from gwtui.cli.changes.change import ChangeContext
    from gwtui.client.connection import Connection
    from gwtui.crud.executor import WriteExecutor
    from gwtui.local.ledger import Ledger
    from gwtui.resources.session import Session


PATIENCE = 20.0
"""Seconds to wait for the response to a sent request after an interrupt."""

LOST = "The request is not sent again. Check the current state before you retry."
"""Printed after a response was lost."""

Sent = tuple[Plan[Any], Outcome[Any]]


async def send(executor: WriteExecutor, confirmation: Confirmation[Any]) -> list[Sent]:
    """Send the requests of a plan in order; return each plan that was sent with its outcome.

    Stops after the first request that is not applied, and after an interrupt.
    """
    done: list[Sent] = []
    for part in confirmation.each():
        outcome, interrupted = await execute_one(executor, part)
        done.append((part.plan, outcome))
        if interrupted or not isinstance(outcome, Applied):
            break
    return done


async def execute_one(
    executor: WriteExecutor, confirmation: Confirmation[Any]
) -> tuple[Outcome[Any], bool]:
    """Execute one request; return its outcome, and whether the user interrupted.

    After an interrupt, waits up to ``PATIENCE`` seconds for the response: a sent request cannot be
    recalled, and the response may hold the value of a new key. Raises CancelledError if no response
    arrives or the user interrupts again. Ledger errors are reported on stderr.
    """
    task = asyncio.ensure_future(executor.execute(confirmation))
    interrupted = False
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        narrate("waiting for the response to the request; interrupt again to quit")
        interrupted = True
        await asyncio.wait({task}, timeout=PATIENCE)
        if not task.done():
            raise
    if fault := executor.write_log.fault:
        narrate(f"the outcome could not be written to the audit log: {fault}")
    return task.result(), interrupted


async def report_unresolved(session: Session) -> None:
    """Report the number of unresolved writes on stderr, if there are any."""
    count = len((await unresolved_feed(session.hub).refresh()).value or ())
    if count:
        changes = "1 earlier change is" if count == 1 else f"{count} earlier changes are"
        narrate(
            f"{changes} unresolved: 'gwtui recovery list' lists them, the dashboard resolves them"
        )


_TEXT = 400


def plan_lines(plan: Plan[Any]) -> Iterator[str]:
    """Yield the lines of a plan: obstacles, changes, warnings and effects."""
    plan = displayed(plan)
    yield safe_line(plan.title, _TEXT)
    yield from (f"  ! {safe_line(obstacle, _TEXT)}" for obstacle in plan.obstacles)
    width = max((len(change.field) for change in plan.changes), default=0)
    for change in plan.changes:
        after = "none" if change.after is None else change.after
        value = after if change.before is None else f"{change.before} → {after}"
        yield f"  {change.field:<{width}}  {safe_line(value, _TEXT)}".rstrip()
    yield from (f"  warning: {safe_line(warning, _TEXT)}" for warning in plan.warnings)
    yield from (f"  - {safe_line(effect, _TEXT)}" for effect in plan.effects)
    if len(plan.parts) > 1 and not plan.obstacles:
        yield f"  - Takes {len(plan.parts)} requests, sent one after the other."


def print_plan(plan: Plan[Any], as_json: Any = None) -> None:
    """Print the plan as text, or the JSON value ``as_json`` if given."""
    if as_json is not None:
        print_json(as_json)
        return
    with data_on_stdout():
        for line in plan_lines(plan):
            print(line)


def changes_json(plan: Plan[Any]) -> dict[str, Any]:
    """Return identity, title, changes, effects and warnings of a plan as JSON values."""
    shown = displayed(plan)
    return {
        "identity": plan.identity,
        "title": plan.title,
        "changes": [
            {"field": change.field, "before": change.before, "after": change.after}
            for change in plan.changes
        ],
        "effects": list(shown.effects),
        "warnings": list(shown.warnings),
    }


def plan_json(plan: Plan[Any]) -> dict[str, Any]:
    """Return a plan as JSON values, with its request bodies; secrets are masked."""
    return {
        "action": plan.action,
        "resource": plan.resource,
        "danger": plan.danger,
        **changes_json(plan),
        "obstacles": list(plan.obstacles),
        "requests": [_request(part) for part in plan.parts or (plan,)],
    }


def _request(plan: Plan[Any]) -> dict[str, Any]:
    return {"action": plan.action, "identity": plan.identity, "summary": masked(plan.summary)}


def outcome_json(
    plan: Plan[Any], outcomes: Sequence[tuple[Plan[Any], Outcome[Any]]]
) -> dict[str, Any]:
    """Return the outcome of a plan and of each of its requests as JSON values."""
    return {
        **plan_json(plan),
        "outcome": outcome_label(outcomes[-1][1]),
        "requests": [
            {**_request(part), **result_json(part, outcome)} for part, outcome in outcomes
        ],
    }


def report_outcome(plan: Plan[Any], outcome: Outcome[Any]) -> None:
    """Report the outcome of a plan on stderr."""
    match outcome:
        case Applied():
            narrate(f"done: {plan.title}")
        case Refused(error):
            narrate(f"refused: {plan.title}. {error.message}")
        case Unknown(error):
            why = f"{error.message} It may or may not have been applied."
            narrate(f"unknown: {plan.title}. {why} {LOST}")


def outcome_label(outcome: Outcome[Any]) -> str:
    """Return the name of an outcome in the audit log: "applied", "refused", "unknown"."""
    match outcome:
        case Applied():
            return "applied"
        case Refused():
            return "refused"
    return "unknown"


def changed_identity(plan: Plan[Any], outcome: Applied[Any]) -> str | None:
    """Return the identifier of the created or changed resource; None if unknown."""
    return plan.identity if plan.identify is None else plan.identify(outcome.value)


def result_json(plan: Plan[Any], outcome: Outcome[Any]) -> dict[str, Any]:
    """Return the outcome of one request as JSON values."""
    result: dict[str, Any] = {"outcome": outcome_label(outcome)}
    if isinstance(outcome, Applied):
        result["identity"] = changed_identity(plan, outcome)
        if isinstance(outcome.value, ResponseModel):
            result["answer"] = masked(outcome.value.raw)
    else:
        error = outcome.error
        result |= {"error": error.message, "status": error.status, "request_id": error.request_id}
    return result


T = TypeVar("T")

NO_TERMINAL = "no terminal to confirm on: review the change with --plan, then use --yes"


async def confirm_plan(plan: Plan[T], context: ChangeContext) -> Confirmation[T] | None:
    """Ask the user to confirm a plan, unless ``--yes`` was given, and return the confirmation.

    Returns None, with the reason on stderr, if the user declines, or if the plan cannot be sent
    because it has obstacles or the session is read-only. Raises CommandError if the profile is
    critical and ``--confirm`` does not name it.
    """
    arguments, session = context.arguments, context.session
    held_back = session.gateway.gate.closed
    reasons = [*plan.obstacles, *([f"Nothing was sent, because {held_back}."] if held_back else [])]
    why = " ".join(reasons)
    if reasons and not arguments.yes:
        narrate(f"refused: {plan.title}. {why}")
        return None
    consent = await _consent(plan, session.connection, arguments)
    if consent is None:
        narrate("cancelled: nothing was sent")
        return None
    agreed = Confirmation(plan, consent)
    if reasons:
        report_outcome(plan, await session.executor.reject(agreed, why))
        return None
    return agreed


async def _consent(
    plan: Plan[Any], connection: Connection, arguments: Namespace
) -> ConfirmationKind | None:
    name = connection.critical_name
    if arguments.yes:
        narrate_lines(f"warning: {safe_line(warning, _TEXT)}" for warning in plan.warnings)
        if name and arguments.confirm is None:
            raise exits.CommandError(
                f"this profile is critical: --yes also needs --confirm {name}", exits.USAGE
            )
        if name and arguments.confirm != name:
            raise exits.CommandError(
                f"--confirm does not match this profile, which is {name}", exits.USAGE
            )
    else:
        narrate_lines(plan_lines(plan))
        question, answer = "Apply this change? Type y", "y"
        if name:
            question, answer = f"This profile is CRITICAL. Type {name} to apply the change", name
        elif plan.danger == "high":
            question, answer = "This cannot be undone. Type yes to apply the change", "yes"
        if await await_line(f"{question}: ") != answer:
            return None
    return "typed" if name else "command line"


def require_terminal(*, yes: bool) -> None:
    """Raise CommandError if there is no terminal for the confirmation and ``--yes`` is missing."""
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise exits.CommandError(NO_TERMINAL, exits.USAGE)


def print_new_key(
    ledger: Ledger, plan: Plan[Any], created: CreatedKey, about: dict[str, Any] | None = None
) -> int:
    """Print the value of a new key, and acknowledge the key in the ledger.

    ``plan`` created the key. The value is printed as a member of the JSON object ``about``, or
    alone if that is None. Returns an exit code: INCOMPLETE if the value is missing or lost.
    """
    if created.key is None:
        name = KEYS.name(created.data) if created.data is not None else "without a description"
        narrate(f"key {name} was created without a value: delete it and create another one")
        return exits.INCOMPLETE
    try:
        if about is not None:
            print_json({**about, "key": created.key.get_secret_value()})
        else:
            print_value(created.key)
    except OutputLostError as error:
        narrate(str(error))
        narrate(
            f"the value of the key is lost: 'gwtui recovery recreate {plan.id}' replaces the key"
        )
        return exits.INCOMPLETE
    try:
        ledger.acknowledge(plan.id, SYSTEM_CLOCK.now())
    except OSError as error:
        narrate(
            f"the key could not be marked as stored: {error.strerror}; "
            f"run 'gwtui recovery acknowledge {plan.id}'"
        )
    return exits.OK
