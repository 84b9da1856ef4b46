"""``gwtui RESOURCE VERB``: what the verbs of a resource are, and calling one."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Protocol

from gwtui.cli import exits
from gwtui.cli.lists.command import GetVerb, ListVerb
from gwtui.cli.output import data_on_stdout, narrate
from gwtui.cli.parsing import CommandParser, command_parser
from gwtui.cli.resources import Resource
from gwtui.domain.lookup import among


class Verb(Protocol):
    """Something to do with a resource."""

    @property
    def name(self) -> str:
        """How it is called."""
        ...

    @property
    def help(self) -> str:
        """What it does, in a few words."""
        ...

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its own options."""
        ...

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; returns an exit code."""
        ...


def run_verb(resource: Resource, name: str | None, words: Sequence[str]) -> int:
    """Call a verb, or list the verbs; returns an exit code."""
    verbs = verbs_of(resource)
    if name is None:
        with data_on_stdout():
            print(_help(resource, verbs))
        return exits.OK
    verb = verbs.get(name)
    if verb is None:
        narrate(f"{resource.id} has no verb {name!r}{among(name, verbs)}")
        return exits.USAGE
    return verb.run(verb_parser(resource, verb).parse_args(words))


def verb_parser(resource: Resource, verb: Verb) -> CommandParser:
    """What reads the command line of a verb."""
    parser = command_parser(
        f"gwtui {resource.id} {verb.name}",
        f"{resource.help}: {verb.help}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verb.configure(parser)
    return parser


def verbs_of(resource: Resource) -> Mapping[str, Verb]:
    """Every verb of a resource, reading ones first."""
    verbs: list[Verb] = [GetVerb(resource)]
    if not resource.by_id:
        verbs.insert(0, ListVerb(resource))
    if resource.changes:
        from gwtui.cli.changes.command import change_verbs  # noqa: PLC0415 - not to read only

        verbs += change_verbs(resource)
    if resource.further:
        module, _, name = resource.further.partition(":")
        verbs += getattr(import_module(module), name)
    return {verb.name: verb for verb in verbs}


def _help(resource: Resource, verbs: Mapping[str, Verb]) -> str:
    width = max(map(len, verbs))
    lines = [f"  {verb.name:<{width}}  {verb.help}" for verb in verbs.values()]
    return "\n".join(
        [
            f"usage: gwtui {resource.id} VERB ...",
            "",
            f"{resource.help}, without the dashboard; 'gwtui {resource.id}' alone opens it there.",
            "",
            "verbs:",
            *lines,
            "",
            f"'gwtui {resource.id} VERB --help' explains one.",
        ]
    )
