"""``gwtui completion``: the script for a shell, and the names that it offers."""

from __future__ import annotations

import argparse
import sys

from gwtui.cli import exits
from gwtui.cli.completion.known import make_tree
from gwtui.cli.completion.scripts import SCRIPTS
from gwtui.cli.output import data_on_stdout, narrate
from gwtui.cli.target import add_demo_option

_REFRESH = "refresh"


def configure(parser: argparse.ArgumentParser) -> None:
    """Which shell, or reading the names anew."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "shell",
        choices=(*SCRIPTS, _REFRESH),
        help="the shell whose script is printed; refresh: read the names of resources now",
    )
    add_demo_option(parser)
    parser.epilog = (
        'bash: eval "$(gwtui completion bash)" in ~/.bashrc\n'
        'zsh:  eval "$(gwtui completion zsh)" in ~/.zshrc\n'
        "fish: gwtui completion fish > ~/.config/fish/completions/gwtui.fish\n\n"
        "Names of keys, workspaces and the like are those that a list or a dashboard read last;\n"
        "the completing shell asks no gateway. They lie in the cache directory, without secrets."
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the script, or read the names; returns an exit code."""
    if arguments.shell == _REFRESH:
        return _refresh(arguments)
    script = SCRIPTS[arguments.shell]
    with data_on_stdout():
        print(script, end="")
    return exits.OK


def _refresh(arguments: argparse.Namespace) -> int:
    from gwtui.cli.lists.command import declaration  # noqa: PLC0415
    from gwtui.cli.lists.lookup import CommandReadings  # noqa: PLC0415
    from gwtui.cli.resources import RESOURCES  # noqa: PLC0415
    from gwtui.cli.running import reading_hub, run_async  # noqa: PLC0415
    from gwtui.cli.target import reach  # noqa: PLC0415
    from gwtui.local.paths import Paths  # noqa: PLC0415
    from gwtui.resources.known_names import NAMED_LISTS, keep_of  # noqa: PLC0415
    from gwtui.watch.hub import Scope  # noqa: PLC0415

    make_tree()
    connect = reach(arguments, Paths.of_user(), may_ask=sys.stdin.isatty())

    async def work() -> int:
        async with reading_hub(connect) as hub:
            readings = CommandReadings(hub)
            for name in NAMED_LISTS:
                spec = declaration(RESOURCES[name])
                rows = await readings.value_or_nothing(spec.feed(hub, Scope()), name)
                if rows is not None:
                    keep_of(hub.connection, spec, rows)
                    narrate(f"{len(rows)} {name}")
            return readings.exit_code

    return run_async(work)
