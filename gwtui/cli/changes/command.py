"""The verbs that change something: plan, confirm, execute, report the outcome."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gwtui.cli import exits
from gwtui.cli.changes.change import (
    ChangeCommand,
    ChangeContext,
    NothingToDoError,
    assign_value,
    field_schemas,
    is_deprecated,
    is_secret,
    read_values,
    stdin_value,
    validated,
)
from gwtui.cli.changes.crud import changes_of
from gwtui.cli.changes.execute import (
    Sent,
    changed_identity,
    confirm,
    outcome_json,
    plan_json,
    plan_lines,
    print_new_key,
    report_in_doubt,
    require_terminal,
    send,
)
from gwtui.cli.changes.many import (
    ManyChanges,
    RowSelection,
    add_selection_options,
    plan_selection,
    reject_own_fields,
    row_selection,
)
from gwtui.cli.exits import CommandError
from gwtui.cli.output import (
    add_output_option,
    data_on_stdout,
    narrate,
    print_json,
)
from gwtui.cli.prompts import NoAnswerGivenError, read_secret
from gwtui.cli.resources import DECLARED, Resource
from gwtui.cli.running import run_async, serve_recorded
from gwtui.cli.target import add_demo_option, resolve_connection
from gwtui.contract.dialects import DIALECTS
from gwtui.contract.keys import CreatedKey
from gwtui.crud.plan import Applied, Plan, Refused, Unknown
from gwtui.crud.resource import Scope
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.safe_text import safe_text
from gwtui.local.paths import Paths
from gwtui.resources.session import open_session
from gwtui.watch.feeds.keys import current_key_feed

if TYPE_CHECKING:
    from gwtui.contract.request import RequestModel
    from gwtui.resources.session import Session

_LOOK = "It is not sent again: look at what is there before you try again."
_SCOPE = "workspace_id"


def change_verbs(resource: Resource) -> list[ChangeVerb]:
    """The verbs that change a resource: as its declaration says, or as a module of its own does."""
    declared = resource.changes == DECLARED
    where = resource.declaration if declared else resource.changes
    module, _, name = where.partition(":")
    found: Any = getattr(import_module(module), name or "CHANGES")
    return [ChangeVerb(resource, change) for change in (changes_of(found) if declared else found)]


@dataclass(frozen=True, slots=True)
class ChangeVerb:
    """One declared change as a verb of the command line."""

    resource: Resource
    change: ChangeCommand

    @property
    def name(self) -> str:
        """How it is called."""
        return self.change.name

    @property
    def help(self) -> str:
        """What it does."""
        return self.change.help

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """What it takes, and how far to go."""
        for operand in self.change.operands:
            if operand.option:
                parser.add_argument(
                    f"--{operand.name}", action="append", default=[], help=operand.help
                )
            else:
                several = self.change.many is not None and operand.name == "id"
                many = "*" if several else "+" if operand.many else None
                parser.add_argument(
                    operand.name, metavar=operand.name.upper(), nargs=many, help=operand.help
                )
        if self.change.many is not None:
            add_selection_options(parser)
        self._add_fields(parser)
        parser.add_argument(
            "--plan", action="store_true", help="print what would be done, and send nothing"
        )
        if self.change.force:
            parser.add_argument("--force", action="store_true", help=f"take {self.change.force}")
        parser.add_argument("--yes", action="store_true", help="do it without asking")
        parser.add_argument(
            "--confirm",
            metavar="PROFILE",
            help="with --yes on a critical profile: the name of the profile",
        )
        add_output_option(parser)
        add_demo_option(parser)

    def _add_fields(self, parser: argparse.ArgumentParser) -> None:
        model, notes = self.change.model, [*self.change.notes]
        parser.set_defaults(set=[], unset=[], stdin=None)
        if model is not None and self.typed_fields():
            parser.add_argument(
                "--set",
                action="append",
                default=[],
                metavar="FIELD=VALUE",
                help="a field and its value; may be repeated",
            )
            parser.add_argument(
                "--unset",
                action="append",
                default=[],
                metavar="FIELD",
                help="a field that is to have no value; may be repeated",
            )
            parser.add_argument(
                "--stdin", metavar="FIELD", help="the field whose value is read from stdin"
            )
            notes += ["fields:", *_described(model, self.typed_fields())]
        parser.epilog = "\n".join(notes) or None

    def _fields(self) -> tuple[str, ...]:
        model = self.change.model
        if self.change.fields is not None or model is None:
            return self.change.fields or ()
        schemas = field_schemas(model)
        return tuple(name for name in model.model_fields if not is_deprecated(schemas[name]))

    def typed_fields(self) -> tuple[str, ...]:
        """The fields that are given by option, not by stdin."""
        return tuple(name for name in self._fields() if name != self.change.secret)

    def run(self, arguments: argparse.Namespace) -> int:
        """Plan it, ask, do it; returns an exit code."""
        if not arguments.plan:
            require_terminal(yes=arguments.yes)
        given = self._given(arguments)
        chosen = None if self.change.many is None else row_selection(self.change.many, arguments)
        if chosen is not None:
            reject_own_fields(self.change, given)
        connect = resolve_connection(arguments, Paths.of_user(), may_ask=sys.stdin.isatty())

        async def work() -> int:
            async with (
                connect() as connection,
                open_session(connection, SYSTEM_CLOCK) as session,
            ):
                serve_recorded(session.hub)
                await session.complete()
                context = ChangeContext(session, arguments, given, SYSTEM_CLOCK.now())
                if chosen is None:
                    return await self._work(context)
                return await self._work_many(context, chosen)

        return run_async(work)

    def _given(self, arguments: argparse.Namespace) -> Mapping[str, Any]:
        """What was typed, by field. Raises CommandError."""
        model, fields = self.change.model, self._fields()
        if model is None:
            return {}
        given = read_values(
            model, self.typed_fields(), arguments.set, arguments.unset, SYSTEM_CLOCK.now()
        )
        for operand in self.change.operands:
            if operand.name in model.model_fields:
                given[operand.name] = getattr(arguments, operand.name)
        secret = self.change.secret or arguments.stdin
        if not self.change.secret and not given and not secret and self.name == "update":
            raise CommandError("say what to change with --set or --unset", exits.USAGE)
        if secret:
            try:
                text = read_secret(f"{secret} (not shown): ")
            except NoAnswerGivenError as error:
                raise CommandError(f"{secret}: {error}", exits.USAGE) from None
            assign_value(given, secret, stdin_value(model, fields, secret, text))
        _refuse_early(model, given)
        return given

    async def _work(self, context: ChangeContext) -> int:
        await report_in_doubt(context.session)
        learning = asyncio.ensure_future(_learn_rights(context.session))
        try:
            plan = await self.change.plan(context)
        except NothingToDoError as nothing:
            narrate(f"nothing to do: {nothing}")
            return exits.OK
        finally:
            await learning
        return await self._decide(context, plan)

    async def _work_many(self, context: ChangeContext, chosen: RowSelection) -> int:
        await report_in_doubt(context.session)
        learning = asyncio.ensure_future(_learn_rights(context.session))
        try:
            bulk = await plan_selection(self.change, context, chosen)
        finally:
            await learning
        return await ManyChanges(self.change, context, bulk).decide()

    async def _decide(self, context: ChangeContext, plan: Plan[Any]) -> int:
        arguments, session = context.arguments, context.session
        as_json = arguments.output == "json"
        if arguments.plan:
            _print_plan(plan, as_json=as_json)
            return exits.FAILED if plan.obstacles else exits.OK
        held_back = session.gateway.gate.closed
        reasons = [*plan.obstacles, *([f"Nothing is sent: {held_back}."] if held_back else [])]
        if reasons and not arguments.yes:
            narrate(f"refused: {plan.title}: {' '.join(reasons)}")
            return exits.FAILED
        agreed = await confirm(
            plan, session.connection, yes=arguments.yes, confirm=arguments.confirm
        )
        if reasons and agreed is not None:
            _tell(plan, await session.executor.reject(agreed, " ".join(reasons)))
            return exits.FAILED
        if agreed is None:
            narrate("not carried out")
            return exits.FAILED
        sent = await send(session.executor, agreed)
        for part, outcome in sent:
            _tell(part, outcome)
        return self._finish(session, plan, sent, as_json=as_json)

    def _finish(self, session: Session, plan: Plan[Any], sent: list[Sent], *, as_json: bool) -> int:
        part, outcome = sent[-1]
        for made, answer in sent:
            if isinstance(answer, Applied) and isinstance(answer.value, CreatedKey):
                about = outcome_json(plan, sent) if as_json else None
                code = print_new_key(session.executor.ledger, made, answer.value, about)
                return code or _code(plan, sent)
        if as_json:
            print_json(outcome_json(plan, sent))
        elif isinstance(outcome, Applied) and self.change.makes:
            with data_on_stdout():
                print(safe_text(changed_identity(part, outcome) or ""))
        return _code(plan, sent)


def _code(plan: Plan[Any], sent: list[Sent]) -> int:
    """The exit code for what was sent of a plan."""
    outcome = sent[-1][1]
    if isinstance(outcome, Applied):
        left = len(plan.parts) - len(sent)
        if left > 0:
            narrate(f"interrupted: {left} of {len(plan.parts)} requests were not sent")
            return exits.INTERRUPTED
        return exits.OK
    return exits.FAILED if isinstance(outcome, Refused) else exits.UNKNOWN


def _refuse_early(model: type[RequestModel], given: Mapping[str, Any]) -> None:
    """Check the given fields before any request. Raises CommandError.

    A workspace may be given by its name: only the gateway can tell whether there is one.
    """
    known = {name: value for name, value in given.items() if name != _SCOPE}
    if known or _SCOPE not in given:
        validated(model, known)


async def _learn_rights(session: Session) -> None:
    """Whose key it is, for the audit log, and whether it may change anything at all."""
    await current_key_feed(session.hub, Scope()).refresh()


def _print_plan(plan: Plan[Any], *, as_json: bool) -> None:
    if as_json:
        print_json(plan_json(plan))
        return
    with data_on_stdout():
        for line in plan_lines(plan):
            print(line)


def _tell(plan: Plan[Any], outcome: Any) -> None:
    match outcome:
        case Applied():
            narrate(f"done: {plan.title}")
        case Refused(error):
            narrate(f"refused: {plan.title}: {error.message}")
        case Unknown(error):
            narrate(f"unknown: {plan.title}: {error.message} It may have happened or not. {_LOOK}")


def _described(model: type[RequestModel], fields: tuple[str, ...]) -> list[str]:
    """Each field with what it takes."""
    schemas = {
        name: schema
        for name, schema in field_schemas(model).items()
        if name.partition(".")[0] in fields and schema.get("type") != "object"
    }
    width = max(map(len, schemas))
    return [
        f"  {name:<{width}}  {_takes(schema)}{_only_in(model, name)}"
        for name, schema in schemas.items()
    ]


def _only_in(model: type[RequestModel], name: str) -> str:
    """Which services have the field, where not all of them do."""
    having = [
        one.name
        for one in DIALECTS.values()
        if name not in one.absent_fields.get(model.__name__, ())
    ]
    return "" if len(having) == len(DIALECTS) else f"; dialect {' or '.join(having)} only"


def _takes(schema: Mapping[str, Any]) -> str:
    text = str(schema.get("description", ""))
    if is_secret(schema):
        return f"{text}; secret: --stdin"
    choices = schema.get("enum") or schema.get("items", {}).get("enum")
    return f"{text}: {', '.join(map(str, choices))}" if choices else text
