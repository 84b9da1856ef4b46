"""The part of completion that runs in each shell: it asks ``gwtui complete`` for the words."""

from __future__ import annotations

from collections.abc import Mapping

_BASH = r"""# gwtui completion for bash: eval "$(gwtui completion bash)"
_gwtui() {
    local IFS=$'\n'
    COMPREPLY=($(gwtui complete bash "$COMP_LINE" "$COMP_POINT" 2>/dev/null))
    case "${COMPREPLY[0]-}" in
        *=|*/|*:) [[ ${#COMPREPLY[@]} -eq 1 ]] && compopt -o nospace 2>/dev/null ;;
    esac
}
complete -o nosort -F _gwtui gwtui 2>/dev/null || complete -F _gwtui gwtui
"""

_ZSH = r"""#compdef gwtui
# gwtui completion for zsh: eval "$(gwtui completion zsh)", or a file _gwtui in $fpath
_gwtui() {
    local line word
    local -a plain open_ plain_said open_said
    for line in "${(@f)$(gwtui complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -z $line ]] && continue
        word=${line%%$'\t'*}
        if [[ $word == *[=/:] ]]; then
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
end
complete -c gwtui -f -a '(__gwtui_complete)'
"""

SCRIPTS: Mapping[str, str] = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
