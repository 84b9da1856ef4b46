"""``gwtui completion`` and ``gwtui man``: the command tree for shells and for readers.

The completion scripts call ``gwtui complete`` (``gwtui/cli/complete.py``). A manual page contains
the help of a command and of its verbs as roff (man(7)).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from gwtui import __version__
from gwtui.cli import exits
from gwtui.cli.command import FILES, Argument, Command
from gwtui.cli.commands import COMMANDS, DASHBOARD, every_command, load
from gwtui.cli.output import data_on_stdout, narrate
from gwtui.domain.lookup import among
from gwtui.resources.registry import COMMAND_RESOURCES

_PROGRAM = "gwtui"
_WIDTH = 74
"""Width of the help text in columns; man indents it."""
_ENVIRONMENT = {
    "GWTUI_TOKEN": "the management key; gwtui removes it from its environment after reading it",
    "GWTUI_PROFILE": "the profile to use without --profile",
    "GWTUI_BASE_URL": "the gateway to use without --base-url and without a profile",
    "GWTUI_TRY_KEY": "the key for test requests to models",
}
_FILES = {
    "~/.config/gwtui/profiles.toml": "profiles: gateways, where their keys come from, thresholds",
    "~/.config/gwtui/alerts.toml": "alert rules",
    "~/.local/state/gwtui": "audit log, rotations, program log",
    "~/.local/share/gwtui": "recorded history",
    "~/.cache/gwtui": "names for completion; safe to delete",
}


def _run_man(arguments: argparse.Namespace) -> int:
    """Print a page as roff, or write all pages to files."""
    if arguments.directory is not None:
        return _write(arguments.directory)
    name, known = arguments.page or _PROGRAM, (_PROGRAM, *COMMANDS, *COMMAND_RESOURCES)
    if name not in known:
        raise exits.CommandError(f"there is no page {name!r}{among(name, known)}", exits.USAGE)
    command = DASHBOARD if name == _PROGRAM else load(name)
    with data_on_stdout():
        print(page(command), end="")
    return exits.OK


def _write(directory: Path) -> int:
    pages = {page_name(command): page(command) for command in every_command()}
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in pages.items():
            (directory / f"{name}.1").write_text(text, encoding="utf-8")
    except OSError as error:
        why = error.strerror or "cannot be written"
        raise exits.CommandError(f"{directory}: {why}") from None
    narrate(f"wrote {len(pages)} pages to {directory}")
    return exits.OK


def page_name(command: Command) -> str:
    """Return the name of a page: "gwtui-keys"."""
    return f"{_PROGRAM}-{command.name}" if command.name else _PROGRAM


def page(command: Command) -> str:
    """Return the roff page of the program, or of a command or resource with its verbs."""
    name = page_name(command)
    lines = [
        f'.TH {name.upper()} 1 "" "gwtui {__version__}" "gwtui"',
        ".SH NAME",
        f"{_text(name)} \\- {_text(command.help)}",
        *_as_is("DESCRIPTION", command.help_text(width=_WIDTH)),
    ]
    for verb in command.verbs:
        text = verb.help_text(f"{_PROGRAM} {command.name}", _WIDTH)
        lines += _as_is(f"{command.name} {verb.name}".upper(), text)
    lines += _listed(
        "EXIT STATUS", {str(code): meaning for code, meaning in exits.MEANINGS.items()}
    )
    if not command.name:
        lines += _listed("ENVIRONMENT", _ENVIRONMENT) + _listed("FILES", _FILES)
    lines += [".SH SEE ALSO", "The manual in the docs/ directory of the source code."]
    return "\n".join(lines) + "\n"


def _as_is(title: str, text: str) -> list[str]:
    return [f".SH {_text(title)}", ".nf", *map(_text, text.splitlines()), ".fi"]


def _listed(title: str, rows: Mapping[str, str]) -> list[str]:
    lines = [f".SH {title}"]
    for name, about in rows.items():
        lines += [".TP", f".B {_text(name)}", _text(about)]
    return lines


def _text(line: str) -> str:
    plain = line.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


MAN = Command(
    run=_run_man,
    arguments=(
        Argument(
            "page",
            nargs="?",
            metavar="PAGE",
            offers=(*COMMANDS, *COMMAND_RESOURCES),
            help="a command or a resource (default: the page of gwtui itself)",
        ),
        Argument(
            "--directory",
            type=Path,
            metavar="DIR",
            kind=FILES,
            help="write all pages to this directory, such as man/man1",
        ),
    ),
)


_BASH = r"""# gwtui completion for bash: eval "$(gwtui completion bash)"
_gwtui() {
    local IFS=$'\n'
    COMPREPLY=($(gwtui complete bash "$COMP_LINE" "$COMP_POINT" 2>/dev/null)) ||
        compopt -o default 2>/dev/null
    case "${COMPREPLY[0]-}" in
        *=|*:) [[ ${#COMPREPLY[@]} -eq 1 ]] && compopt -o nospace 2>/dev/null ;;
    esac
}
complete -o nosort -F _gwtui gwtui 2>/dev/null || complete -F _gwtui gwtui
"""

_ZSH = r"""#compdef gwtui
# gwtui completion for zsh: eval "$(gwtui completion zsh)", or a file _gwtui in $fpath
_gwtui() {
    local answer line word
    local -a plain open_ plain_said open_said
    answer=$(gwtui complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null) || { _files; return }
    for line in "${(@f)answer}"; do
        [[ -z $line ]] && continue
        word=${line%%$'\t'*}
        if [[ $word == *[=:] ]]; then
            open_+=("$word"); open_said+=("${line/$'\t'/  -- }")
        else
            plain+=("$word"); plain_said+=("${line/$'\t'/  -- }")
        fi
    done
    (( $#plain )) && compadd -l -d plain_said -a plain
    (( $#open_ )) && compadd -S '' -l -d open_said -a open_
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _gwtui "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
    compdef _gwtui gwtui
fi
"""

_FISH = r"""# gwtui completion for fish: gwtui completion fish | source
function __gwtui_complete
    set -l words (commandline -opc) (commandline -ct)
    gwtui complete fish $words[2..-1] 2>/dev/null
    or __fish_complete_path (commandline -ct)
end
complete -c gwtui -f -a '(__gwtui_complete)'
"""

SCRIPTS: Mapping[str, str] = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def _print_script(arguments: argparse.Namespace) -> int:
    """Print the script for a shell; returns an exit code."""
    script = SCRIPTS[arguments.shell]
    with data_on_stdout():
        print(script, end="")
    return exits.OK


COMPLETION = Command(
    run=_print_script,
    arguments=(
        Argument(
            "shell",
            values=SCRIPTS,
            help="print the script for this shell",
        ),
    ),
    notes='bash: eval "$(gwtui completion bash)" in ~/.bashrc\n'
    'zsh:  eval "$(gwtui completion zsh)" in ~/.zshrc\n'
    "fish: gwtui completion fish > ~/.config/fish/completions/gwtui.fish\n\n"
    "Names of keys, workspaces and other resources come from the last list or dashboard that\n"
    "read them; completion itself never asks a gateway. The cache holds no secrets.",
)
