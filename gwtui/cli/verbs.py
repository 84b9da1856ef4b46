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
    verbs = _by_name(*_reading_verbs(resource), *_further_verbs(resource))
    if name not in verbs:
        verbs = verbs_of(resource)
    if name is None:
        with data_on_stdout():
            print(_help(resource, verbs))
        return exits.OK
    if name not in verbs:
        narrate(f"{resource.id} has no verb {name!r}{among(name, verbs)}")
        return exits.USAGE
    return verbs[name].run(verb_parser(resource, verbs[name]).parse_args(words))


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
    """Every verb of a resource: those that read, those that change it, further ones."""
    changing: Sequence[Verb] = ()
    if resource.changes:
        from gwtui.cli.changes.command import change_verbs  # noqa: PLC0415 - reading needs none

        changing = change_verbs(resource)
    return _by_name(*_reading_verbs(resource), *changing, *_further_verbs(resource))


def _reading_verbs(resource: Resource) -> Sequence[Verb]:
    get = GetVerb(resource)
    return (get,) if resource.by_id else (ListVerb(resource), get)


def _further_verbs(resource: Resource) -> Sequence[Verb]:
    """Those of its own; one may take the place of a verb that reads."""
    if not resource.further:
        return ()
    module, _, name = resource.further.partition(":")
    found: Sequence[Verb] = getattr(import_module(module), name)
    return found


def _by_name(*verbs: Verb) -> Mapping[str, Verb]:
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
