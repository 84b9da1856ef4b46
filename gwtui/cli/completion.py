"""``gwtui completion``: print the completion script of a shell.

The scripts call ``gwtui complete`` (``gwtui/cli/complete.py``).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from gwtui.cli import exits
from gwtui.cli.command import Argument, Command
from gwtui.cli.output import data_on_stdout

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


def run(arguments: argparse.Namespace) -> int:
    """Print the script for a shell; returns an exit code."""
    script = SCRIPTS[arguments.shell]
    with data_on_stdout():
        print(script, end="")
    return exits.OK


COMMAND = Command(
    run=run,
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
