"""Entry point. Imports are deferred, because shells run completion at every press of Tab."""

from __future__ import annotations

import sys
from collections.abc import Sequence

COMPLETE = "complete"
"""The hidden command that shells call for completion."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``gwtui``; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == [COMPLETE]:
        from gwtui.cli.complete import answer_shell  # noqa: PLC0415 - needs little else

        return answer_shell(words[1:])
    if argv is None:
        from gwtui.cli.process import prepare_process  # noqa: PLC0415

        prepare_process(words)
    from gwtui.cli.commands import run_words  # noqa: PLC0415

    return run_words(words)


if __name__ == "__main__":
    sys.exit(main())
