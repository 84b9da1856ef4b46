"""The command line as data, from the parsers that read it: for completion and manual pages."""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from gwtui.cli.changes.command import ChangeVerb
from gwtui.cli.commands import COMMANDS, dashboard_parser
from gwtui.cli.lists.command import declaration
from gwtui.cli.resources import RESOURCES, Resource
from gwtui.cli.verbs import Verb, verb_parser, verbs_of
from gwtui.crud.export import with_id
from gwtui.crud.resource import filter_kinds
from gwtui.local.private_file import PrivateDirectoryError, ensure_private, replace_file
from gwtui.resources.registry import PLACES

NAMED: Mapping[str, str] = {
    "--profile": "profiles",
    "--workspace": "workspaces",
    "--key": "keys",
    "--guardrail": "guardrails",
    "--member": "organization",
    "--model": "models",
    "workspace": "workspaces",
    "guardrail": "guardrails",
    "key": "keys",
    "model": "models",
    "person": "organization",
}
"""Options and operands whose values are the names of something -> what that is."""
FILES = "files"
_FILES = frozenset({"--from-file", "--file", "--save", "--body", "--directory"})


@dataclass(frozen=True, slots=True)
class TreeOption:
    """An option: how it is called, what it takes ("" for nothing), the values that are known.

    ``kind`` is what names it takes; ``many`` says that values are joined by commas.
    """

    names: tuple[str, ...]
    takes: str
    help: str
    values: tuple[str, ...] = ()
    kind: str = ""
    many: bool = False


@dataclass(frozen=True, slots=True)
class TreeOperand:
    """A positional argument, shown as ``title``; ``many`` takes several."""

    name: str
    title: str
    help: str
    values: tuple[str, ...] = ()
    kind: str = ""
    many: bool = False
    needed: bool = True


@dataclass(frozen=True, slots=True)
class TreeCommand:
    """A command, a resource or a verb, by its words behind ``gwtui``; the dashboard has none."""

    words: tuple[str, ...]
    help: str
    about: str = ""
    notes: str = ""
    options: tuple[TreeOption, ...] = ()
    operands: tuple[TreeOperand, ...] = ()
    children: tuple[TreeCommand, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The same as plain values, for a file."""
        return asdict(self)


def command_tree() -> TreeCommand:
    """Every command, resource, verb and option. It loads every declaration: about a second."""
    commands = [_of_parser((name,), one.help, one.parser()) for name, one in COMMANDS.items()]
    resources = [_of_resource(one) for name, one in RESOURCES.items() if name not in COMMANDS]
    dashboard = _of_parser((), "a dashboard for an AI-model gateway", dashboard_parser())
    places = replace(dashboard.operands[0], values=PLACES)
    return replace(dashboard, operands=(places,), children=(*commands, *resources))


def _of_resource(resource: Resource) -> TreeCommand:
    verbs = verbs_of(resource).values()
    children = tuple(_of_verb(resource, verb) for verb in verbs)
    return TreeCommand((resource.id,), resource.help, children=children)


def _of_verb(resource: Resource, verb: Verb) -> TreeCommand:
    made = _of_parser((resource.id, verb.name), verb.help, verb_parser(resource, verb))
    spec = declaration(resource)
    columns = tuple(column.id for column in with_id(spec, spec.columns))
    fields = tuple(verb.typed_fields()) if isinstance(verb, ChangeVerb) else ()
    values = {
        "--columns": columns,
        "--sort": columns,
        "--filter": tuple(f"{name}:" for name in filter_kinds(spec.columns, spec.facets)),
        "--set": tuple(f"{name}=" for name in fields),
        "--unset": fields,
    }
    options = tuple(
        replace(one, values=values.get(one.names[-1], one.values), many="--columns" in one.names)
        for one in made.options
    )
    operands = tuple(
        replace(one, kind=_names_of(resource, verb)) if one.name == "id" else one
        for one in made.operands
    )
    return replace(made, options=options, operands=operands)


def _names_of(resource: Resource, verb: Verb) -> str:
    """What is named by the operand of a verb; nothing where it is in no list."""
    return "" if resource.by_id or verb.name == "create" else resource.id


def _of_parser(words: tuple[str, ...], help: str, parser: argparse.ArgumentParser) -> TreeCommand:
    options, operands, children = [], [], []
    for action in parser._actions:
        if action.help == argparse.SUPPRESS:
            continue
        if isinstance(action, argparse._SubParsersAction):
            helps = {one.dest: one.help or "" for one in action._choices_actions}
            children += [
                _of_parser((*words, name), helps.get(name, ""), below)
                for name, below in action.choices.items()
            ]
        elif action.option_strings:
            options.append(_option(action))
        else:
            operands.append(_operand(action, words))
    return TreeCommand(
        words,
        help,
        parser.description or "",
        parser.epilog or "",
        tuple(options),
        tuple(operands),
        tuple(children),
    )


def _option(action: argparse.Action) -> TreeOption:
    longest = action.option_strings[-1]
    metavar = action.metavar if isinstance(action.metavar, str) else None
    takes = "" if action.nargs == 0 else metavar or action.dest.upper()
    kind = FILES if longest in _FILES else NAMED.get(longest, "")
    help = action.help or ""
    names = tuple(action.option_strings)
    return TreeOption(names, takes, help, _choices(action), kind if takes else "")


def _operand(action: argparse.Action, words: tuple[str, ...]) -> TreeOperand:
    help = action.help or ""
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest
    return TreeOperand(
        action.dest,
        metavar if isinstance(action.metavar, str) else metavar.upper(),
        help,
        _choices(action),
        "profiles" if words[:1] == ("profiles",) else NAMED.get(metavar.lower(), ""),
        many=action.nargs in ("*", "+"),
        needed=action.nargs not in ("*", "?"),
    )


def _choices(action: argparse.Action) -> tuple[str, ...]:
    return tuple(map(str, action.choices or ()))


def make_tree(path: Path, stamp: str) -> Mapping[str, Any]:
    """The command line as plain values, kept in ``path`` for the next time where that is possible.

    ``stamp`` is the version of the program that it is true for.
    """
    tree = command_tree().as_json()
    with contextlib.suppress(OSError, PrivateDirectoryError):
        ensure_private(path.parent)
        replace_file(path, json.dumps({"stamp": stamp, "tree": tree}).encode())
    return tree
