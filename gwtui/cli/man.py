"""``gwtui man``: manual pages for the program, each command and each resource.

They are made from the same parsers as the command line, as roff (man(7)).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from gwtui import __version__
from gwtui.cli import exits
from gwtui.cli.command_tree import TreeCommand, TreeOperand, TreeOption, command_tree
from gwtui.cli.exits import MEANINGS
from gwtui.cli.output import data_on_stdout, narrate
from gwtui.domain.lookup import among
from gwtui.local.tokens import take_token

_ENVIRONMENT = (
    ("GWTUI_TOKEN", "the management key; it is taken out of the environment once it was read"),
    ("GWTUI_PROFILE", "the profile to use, where --profile does not name one"),
    ("GWTUI_BASE_URL", "the gateway to use, where neither --base-url nor a profile names one"),
    ("GWTUI_TRY_KEY", "the key that requests to models are tried with"),
)

_FILES = (
    ("~/.config/gwtui/profiles.toml", "profiles: gateways, where their keys are, thresholds"),
    ("~/.config/gwtui/alerts.toml", "rules of alerts"),
    ("~/.local/state/gwtui", "ledger of writes, rotations, log"),
    ("~/.local/share/gwtui", "recorded history"),
    ("~/.cache/gwtui", "names for completion; it may be deleted at any time"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Which page, or where to write all of them."""
    parser.add_argument(
        "page", nargs="?", metavar="PAGE", help="a command or a resource; gwtui itself without one"
    )
    parser.add_argument(
        "--directory", type=Path, metavar="DIR", help="write every page there, such as man/man1"
    )


def run(arguments: argparse.Namespace) -> int:
    """Show a page on a terminal, print it as roff elsewhere, or write all.

    Returns an exit code.
    """
    tree = command_tree()
    if arguments.directory is not None:
        return _write(tree, arguments.directory)
    found = {page_name(one): text for one, text in pages(tree)}
    name = "gwtui" if arguments.page in (None, "gwtui") else f"gwtui-{arguments.page}"
    if name not in found:
        known = [one.removeprefix("gwtui-") for one in found]
        asked = arguments.page
        narrate(f"there is no page {asked!r}{among(asked, known)}")
        return exits.USAGE
    text = found[name]
    if sys.stdout.isatty() and (reader := shutil.which("man")):
        return _show(reader, name, text)
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


def _write(tree: TreeCommand, directory: Path) -> int:
    written = 0
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for one, text in pages(tree):
            (directory / f"{page_name(one)}.1").write_text(text, encoding="utf-8")
            written += 1
    except OSError as error:
        narrate(f"{directory}: {error.strerror or 'cannot be written'}")
        return exits.FAILED
    narrate(f"{written} pages in {directory}")
    return exits.OK


def pages(tree: TreeCommand) -> Iterator[tuple[TreeCommand, str]]:
    """Every page with what it is about: the program first."""
    yield tree, _page(tree, tree)
    for child in tree.children:
        yield child, _page(child, tree)


def page_name(command: TreeCommand) -> str:
    """How a page is called: "gwtui-keys"."""
    return "-".join(("gwtui", *command.words[:1]))


def _page(command: TreeCommand, tree: TreeCommand) -> str:
    name, program = page_name(command), not command.words
    lines = [
        f'.TH {name.upper()} 1 "" "gwtui {__version__}" "gwtui"',
        ".SH NAME",
        f"{_text(name)} \\- {_text(command.help)}",
        ".SH SYNOPSIS",
        *_synopsis(command),
        ".SH DESCRIPTION",
        _text(command.about or command.help),
    ]
    if command.children and not program:
        for child in command.children:
            lines += _part(child)
    if program:
        lines += [".SH COMMANDS"]
        for child in tree.children:
            lines += [".TP", f".BR {_text(page_name(child))} (1)", _text(child.help)]
    lines += [*_options(command), *_notes(command)]
    lines += [".SH EXIT STATUS"]
    for code, meaning in MEANINGS.items():
        lines += [".TP", f".B {code}", _text(meaning)]
    if program:
        lines += _listed("ENVIRONMENT", _ENVIRONMENT) + _listed("FILES", _FILES)
    others = "" if program else ".BR gwtui (1),\n"
    lines += [".SH SEE ALSO", f"{others}the manual in docs/ of the program's sources"]
    return "\n".join(lines) + "\n"


def _synopsis(command: TreeCommand) -> Iterator[str]:
    """The program: itself and a command; a resource: its verbs."""
    shown = command.children if command.words and command.children else (command,)
    for one in shown:
        yield f".B {_text(' '.join(('gwtui', *one.words)))}"
        yield f"{_text(_usage(one))}\n.br"
    if not command.words:
        yield ".B gwtui\nCOMMAND [OPTION...]\n.br\n.B gwtui\nRESOURCE VERB [OPTION...]"


def _usage(command: TreeCommand) -> str:
    operands = (_shown(one) for one in command.operands)
    options = "[OPTION...]" if command.options else ""
    return f"{options} {' '.join(operands)}".strip()


def _shown(operand: TreeOperand) -> str:
    shown = f"{operand.title}..." if operand.many else operand.title
    return shown if operand.needed else f"[{shown}]"


def _part(command: TreeCommand) -> Iterator[str]:
    yield f".SH {_text(command.words[-1].upper())}"
    yield _text(command.help)
    yield ".PP"
    yield f".B {_text(' '.join(('gwtui', *command.words)))}"
    yield _text(_usage(command))
    yield from _operands(command.operands)
    yield from _described(command.options)
    yield from _notes(command, ".SS")


def _options(command: TreeCommand) -> Iterator[str]:
    if command.operands or command.options:
        yield ".SH OPTIONS"
        yield from _operands(command.operands)
        yield from _described(command.options)


def _operands(operands: Iterable[TreeOperand]) -> Iterator[str]:
    for one in operands:
        yield ".TP"
        yield f".I {_text(one.title)}"
        yield _text(_with_values(one.help, one.values))


def _described(options: Iterable[TreeOption]) -> Iterator[str]:
    for one in options:
        yield ".TP"
        names = ", ".join(f"\\fB{_text(name)}\\fR" for name in one.names)
        yield f"{names} \\fI{_text(one.takes)}\\fR" if one.takes else names
        yield _text(_with_values(one.help, one.values))


def _with_values(help: str, values: tuple[str, ...]) -> str:
    """The values that it takes, unless the help names them."""
    missing = [one for one in values if one not in help]
    said = f"one of: {', '.join(values)}" if missing else ""
    return "; ".join(filter(None, (help, said))) or "-"


def _notes(command: TreeCommand, level: str = ".SH") -> Iterator[str]:
    if command.notes and command.words:
        yield f"{level} NOTES"
        yield ".nf"
        yield from (_text(line) for line in command.notes.splitlines())
        yield ".fi"


def _listed(title: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    lines = [f".SH {title}"]
    for name, about in rows:
        lines += [".TP", f".B {_text(name)}", _text(about)]
    return lines


def _text(line: str) -> str:
    """One line that roff takes as text: no requests, no escapes, hyphens as they are typed."""
    plain = line.replace("\\", "\\e").replace("-", "\\-").replace("%%", "%")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain
