"""``gwtui man``: manual pages for the program, each command and each resource.

They are made of the same data as the command line, as roff (man(7)).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from gwtui import __version__
from gwtui.cli import exits
from gwtui.cli.command import CONNECTION, FILES, Argument, Command
from gwtui.cli.commands import COMMANDS, DASHBOARD, every_command, load
from gwtui.cli.exits import MEANINGS
from gwtui.cli.output import data_on_stdout, narrate
from gwtui.cli.resources import RESOURCES
from gwtui.domain.lookup import among
from gwtui.local.tokens import take_token

_PROGRAM = "gwtui"
_ENVIRONMENT = {
    "GWTUI_TOKEN": "the management key; it is taken out of the environment once it was read",
    "GWTUI_PROFILE": "the profile to use, where --profile does not name one",
    "GWTUI_BASE_URL": "the gateway to use, where neither --base-url nor a profile names one",
    "GWTUI_TRY_KEY": "the key that requests to models are tried with",
}
_FILES = {
    "~/.config/gwtui/profiles.toml": "profiles: gateways, where their keys are, thresholds",
    "~/.config/gwtui/alerts.toml": "rules of alerts",
    "~/.local/state/gwtui": "ledger of writes, rotations, log",
    "~/.local/share/gwtui": "recorded history",
    "~/.cache/gwtui": "names for completion; it may be deleted at any time",
}


def run(arguments: argparse.Namespace) -> int:
    """Show a page on a terminal, print it as roff elsewhere, or write all.

    Returns an exit code.
    """
    if arguments.directory is not None:
        return _write(arguments.directory)
    name, known = arguments.page or _PROGRAM, (_PROGRAM, *COMMANDS, *RESOURCES)
    if name not in known:
        raise exits.CommandError(f"there is no page {name!r}{among(name, known)}", exits.USAGE)
    command = DASHBOARD if name == _PROGRAM else load(name)
    text = page(command)
    if sys.stdout.isatty() and (reader := shutil.which("man")):
        return _show(reader, page_name(command), text)
    with data_on_stdout():
        print(text, end="")
    return exits.OK


def _show(reader: str, name: str, text: str) -> int:
    """Let man show a page in the pager that its user has chosen."""
    take_token(os.environ)  # not used: taken out so that the pager does not inherit it
    with TemporaryDirectory(prefix="gwtui-") as folder:
        page = Path(folder) / f"{name}.1"
        page.write_text(text, encoding="utf-8")
        with subprocess.Popen([reader, str(page)]) as process:  # noqa: S603 - man, from the path
            while process.poll() is None:
                # Ctrl+C is for the pager.
                with contextlib.suppress(KeyboardInterrupt):
                    process.wait()
    return exits.FAILED if process.returncode else exits.OK


def _write(directory: Path) -> int:
    written = 0
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for command in every_command():
            (directory / f"{page_name(command)}.1").write_text(page(command), encoding="utf-8")
            written += 1
    except OSError as error:
        why = error.strerror or "cannot be written"
        raise exits.CommandError(f"{directory}: {why}") from None
    narrate(f"{written} pages in {directory}")
    return exits.OK


def page_name(command: Command) -> str:
    """How a page is called: "gwtui-keys"."""
    return f"{_PROGRAM}-{command.name}" if command.name else _PROGRAM


def page(command: Command) -> str:
    """The page of a command or a resource with its verbs, or of the program."""
    name, program = page_name(command), not command.name
    title = name.replace("-", " ", 1)
    lines = [
        f'.TH {name.upper()} 1 "" "gwtui {__version__}" "gwtui"',
        ".SH NAME",
        f"{_text(name)} \\- {_text(command.help)}",
        ".SH SYNOPSIS",
        *_usage(command, title),
        *(line for verb in command.verbs for line in _usage(verb, f"{title} {verb.name}")),
        ".SH DESCRIPTION",
        _text(command.about or command.help),
        *_details(command, ".SH OPTIONS"),
    ]
    for verb in command.verbs:
        lines += [f".SH {_text(verb.name.upper())}", _text(verb.help), ".PP"]
        lines += [*_usage(verb, f"{title} {verb.name}"), *_details(verb, ".PP")]
    if program:
        pages = {f"{_PROGRAM}-{one}": help for one, help in COMMANDS.items()}
        pages |= {f"{_PROGRAM}-{one.id}": one.help for one in RESOURCES.values()}
        lines += _listed("COMMANDS", {f"{one} (1)": help for one, help in pages.items()})
    lines += _listed("EXIT STATUS", {str(code): meaning for code, meaning in MEANINGS.items()})
    if program:
        lines += _listed("ENVIRONMENT", _ENVIRONMENT) + _listed("FILES", _FILES)
    others = "" if program else ".BR gwtui (1),\n"
    lines += [".SH SEE ALSO", f"{others}the manual in docs/ of the program's sources"]
    return "\n".join(lines) + "\n"


def _usage(command: Command, title: str) -> Iterator[str]:
    """How it is called; nothing where a verb is needed."""
    if command.run is None:
        return
    yield f".B {_text(title)}"
    yield " ".join(["[OPTION...]", *map(_operand, command.arguments)]).rstrip()
    yield ".br"


def _operand(argument: Argument) -> str:
    if argument.is_option:
        return ""
    shown = _text(f"{argument.title}..." if argument.several else argument.title)
    return f"[{shown}]" if argument.settings.get("nargs") in {"?", "*"} else shown


def _details(command: Command, heading: str) -> Iterator[str]:
    """What it takes, and its notes; the program's name the commands, which have their section."""
    if command.run is None:
        return
    yield heading
    for one in (*command.arguments, *CONNECTION):
        yield ".TP"
        if one.is_option:
            names = ", ".join(f"\\fB{_text(name)}\\fR" for name in one.names)
            yield f"{names} \\fI{_text(one.title)}\\fR" if one.takes_value else names
        else:
            yield f".I {_text(one.title)}"
        yield _text(one.help)
    if command.notes and command.name:
        yield from (".PP", ".nf", *map(_text, command.notes.splitlines()), ".fi")


def _listed(title: str, rows: Mapping[str, str]) -> list[str]:
    lines = [f".SH {title}"]
    for name, about in rows.items():
        lines += [".TP", f".B {_text(name)}", _text(about)]
    return lines


def _text(line: str) -> str:
    """One line that roff takes as text: no requests, no escapes, hyphens as they are typed."""
    plain = line.replace("\\", "\\e").replace("-", "\\-").replace("%%", "%")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


COMMAND = Command(
    run=run,
    arguments=(
        Argument(
            "page",
            nargs="?",
            metavar="PAGE",
            offers=(*COMMANDS, *RESOURCES),
            help="a command or a resource; gwtui itself without one",
        ),
        Argument(
            "--directory",
            type=Path,
            metavar="DIR",
            kind=FILES,
            help="write every page there, such as man/man1",
        ),
    ),
)
