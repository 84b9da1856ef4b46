"""Verbs that change something: plan, confirm, execute, report the outcome."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gwtui.cli import exits
from gwtui.cli.changes.change import (
    ChangeContext,
    NothingToDoError,
    assign_value,
    read_values,
    stdin_value,
    validated,
)
from gwtui.cli.changes.execute import (
    Sent,
    changed_identity,
    confirm_plan,
    outcome_json,
    plan_json,
    print_new_key,
    print_plan,
    report_outcome,
    report_unresolved,
    require_terminal,
    send,
)
from gwtui.cli.changes.many import (
    FILTER,
    ManyChanges,
    plan_selection,
    reject_unique_fields,
    row_selection,
)
from gwtui.cli.command import DEMO, OUTPUT, Argument, Command
from gwtui.cli.output import data_on_stdout, narrate, print_json
from gwtui.cli.prompts import NoAnswerGivenError, read_secret
from gwtui.cli.target import attach_history, resolve_connection, run_async
from gwtui.contract.dialects import DIALECTS
from gwtui.contract.keys import CreatedKey
from gwtui.contract.request import FieldRules, RequestModel, all_rules, field_rules
from gwtui.crud.plan import Applied, Plan, Refused
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.safe_text import safe_text
from gwtui.local.paths import Paths
from gwtui.resources.session import open_session
from gwtui.watch.feeds.keys import current_key_feed

if TYPE_CHECKING:
    from gwtui.resources.session import Session

_SCOPE = "workspace_id"
_AGREEING = (
    Argument("--yes", action="store_true", help="do not ask for confirmation"),
    Argument(
        "--confirm",
        metavar="PROFILE",
        help="name of the profile; required with --yes on a critical profile",
    ),
    OUTPUT,
    DEMO,
)


@dataclass(frozen=True, slots=True)
class DeclaredChange:
    """A verb that changes something."""

    name: str
    help: str
    plan: Callable[[ChangeContext], Awaitable[Plan[Any]]]
    """Reads the current state from the gateway, and returns the plan of the change.

    Raises NothingToDoError, CommandError and GatewayError.
    """
    operands: tuple[Argument, ...] = ()
    """An operand with the name of a request field sets that field."""
    model: type[RequestModel] | None = None
    """The request model, whose fields ``--set`` and ``--unset`` accept; None without fields."""
    fields: tuple[str, ...] | None = None
    """The fields that the verb accepts; None for all fields that are not deprecated."""
    secret: str = ""
    """The field whose value is read from stdin or a prompt; "" if there is none."""
    creates: bool = False
    """Whether the identifier of the new resource is printed."""
    force: str = ""
    """The risk that the user accepts with ``--force``, for its help; "" without this option."""
    notes: tuple[str, ...] = ()
    """Lines of help below the options."""
    many: ResourceSpec[Any] | None = None
    """The resource list in which ids are looked up, if the operand "id" may name several."""

    def command(self) -> Command:
        """Return the command-line verb."""
        fields = self.typed_fields()
        described = _described(self.model, fields) if self.model is not None and fields else ()
        return Command(
            self.name,
            self.help,
            self._run,
            tuple(self._arguments()),
            notes="\n".join(
                [*self.notes, *(("", "fields:", *described) if described else ())]
            ).lstrip(),
        )

    def _arguments(self) -> Iterator[Argument]:
        yield from self.operands
        if self.many is not None:
            yield FILTER
        if fields := self.typed_fields():
            yield Argument(
                "--set",
                action="append",
                default=[],
                metavar="FIELD=VALUE",
                offers=(f"{name}=" for name in fields),
                help="set a field; may be repeated",
            )
            yield Argument(
                "--unset",
                action="append",
                default=[],
                metavar="FIELD",
                offers=fields,
                help="clear a field; may be repeated",
            )
            if not self.secret:
                yield Argument(
                    "--stdin", metavar="FIELD", help="read the value of this field from stdin"
                )
        yield Argument("--plan", action="store_true", help="print the plan and send nothing")
        if self.force:
            yield Argument("--force", action="store_true", help=f"accept {self.force}")
        yield from _AGREEING

    def _fields(self) -> tuple[str, ...]:
        if self.fields is not None or self.model is None:
            return self.fields or ()
        rules = field_rules(self.model)
        return tuple(name for name in rules if not rules[name].deprecated)

    def typed_fields(self) -> tuple[str, ...]:
        """Return the fields that ``--set`` and ``--unset`` accept: all but the field ``secret``."""
        return tuple(name for name in self._fields() if name != self.secret)

    def _run(self, arguments: argparse.Namespace) -> int:
        given = self._given(arguments)
        chosen = None if self.many is None else row_selection(self.many, arguments)
        if self.many is not None and chosen is not None:
            reject_unique_fields(self.many, given)
        if not arguments.plan and not arguments.read_only:
            require_terminal(yes=arguments.yes)
        connect = resolve_connection(arguments, Paths.of_user(), may_ask=sys.stdin.isatty())

        async def work() -> int:
            async with (
                connect() as connection,
                open_session(connection, SYSTEM_CLOCK) as session,
            ):
                attach_history(session.hub)
                await session.complete()
                await report_unresolved(session)
                context = ChangeContext(session, arguments, given, SYSTEM_CLOCK.now())
                rights = asyncio.ensure_future(_read_rights(session))
                try:
                    if chosen is not None:
                        bulk = await plan_selection(self, context, chosen)
                    else:
                        plan = await self.plan(context)
                except NothingToDoError as nothing:
                    narrate(f"nothing to do: {nothing}")
                    return exits.OK
                finally:
                    await rights
                if chosen is not None:
                    return await ManyChanges(context, bulk).decide()
                return await self._decide(context, plan)

        return run_async(work)

    def _given(self, arguments: argparse.Namespace) -> Mapping[str, Any]:
        model, fields = self.model, self._fields()
        if model is None:
            return {}
        given: dict[str, Any] = {}
        secret = self.secret
        if self.typed_fields():
            now = SYSTEM_CLOCK.now()
            given = read_values(model, self.typed_fields(), arguments.set, arguments.unset, now)
            secret = secret or arguments.stdin
        for operand in self.operands:
            if operand.names[0] in model.model_fields:
                given[operand.names[0]] = getattr(arguments, operand.names[0])
        if not given and not secret and self.name == "update":
            raise exits.CommandError("give the fields to change with --set or --unset", exits.USAGE)
        if secret:
            with exits.reporting(NoAnswerGivenError, context=f"{secret}: "):
                text = read_secret(f"{secret} (not shown): ")
            assign_value(given, secret, stdin_value(model, fields, secret, text))
        _refuse_early(model, given)
        return given

    async def _decide(self, context: ChangeContext, plan: Plan[Any]) -> int:
        arguments, session = context.arguments, context.session
        as_json = arguments.output == "json"
        if arguments.plan:
            print_plan(plan, plan_json(plan) if as_json else None)
            return exits.FAILED if plan.obstacles else exits.OK
        agreed = await confirm_plan(plan, context)
        if agreed is None:
            return exits.FAILED
        sent = await send(session.executor, agreed)
        for part, outcome in sent:
            report_outcome(part, outcome)
        return self._finish(session, plan, sent, as_json=as_json)

    def _finish(self, session: Session, plan: Plan[Any], sent: list[Sent], *, as_json: bool) -> int:
        part, outcome = sent[-1]
        for request, answer in sent:
            if isinstance(answer, Applied) and isinstance(answer.value, CreatedKey):
                about = outcome_json(plan, sent) if as_json else None
                code = print_new_key(session.executor.ledger, request, answer.value, about)
                return code or _code(plan, sent)
        if as_json:
            print_json(outcome_json(plan, sent))
        elif isinstance(outcome, Applied) and self.creates:
            with data_on_stdout():
                print(safe_text(changed_identity(part, outcome) or ""))
        return _code(plan, sent)


def _code(plan: Plan[Any], sent: list[Sent]) -> int:
    outcome = sent[-1][1]
    if isinstance(outcome, Applied):
        left = len(plan.parts) - len(sent)
        if left > 0:
            narrate(f"interrupted: {left} of {len(plan.parts)} requests were not sent")
            return exits.INTERRUPTED
        return exits.OK
    return exits.FAILED if isinstance(outcome, Refused) else exits.UNKNOWN


def _refuse_early(model: type[RequestModel], given: Mapping[str, Any]) -> None:
    # A workspace is validated later, because it may be given by name.
    known = {name: value for name, value in given.items() if name != _SCOPE}
    if known or _SCOPE not in given:
        validated(model, known)


async def _read_rights(session: Session) -> None:
    # The audit log records the current key, and its rights are checked before planning.
    await current_key_feed(session.hub, Scope()).refresh()


def _described(model: type[RequestModel], fields: tuple[str, ...]) -> list[str]:
    rules = {
        name: rule
        for name, rule in all_rules(model).items()
        if name.partition(".")[0] in fields and not rule.is_object
    }
    width = max(map(len, rules))
    return [
        f"  {name:<{width}}  {_help(rule)}{'; required' if rule.required else ''}"
        f"{_only_in(model, name)}"
        for name, rule in rules.items()
    ]


def _help(rules: FieldRules) -> str:
    if rules.is_secret:
        return f"{rules.description}; secret: --stdin"
    choices = rules.choices or rules.entry_choices
    return f"{rules.description}; one of {', '.join(choices)}" if choices else rules.description


def _only_in(model: type[RequestModel], name: str) -> str:
    having = [
        dialect.name
        for dialect in DIALECTS.values()
        if name not in dialect.absent_fields.get(model.__name__, ())
    ]
    return "" if len(having) == len(DIALECTS) else f"; dialect {' or '.join(having)} only"
