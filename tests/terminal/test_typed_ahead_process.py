"""Keys that come in one write, on a real terminal: each gets where it is meant to go.

That a burst ends as slow typing does is proven in the process, by ``flows/test_typed_ahead.py``.
"""

from __future__ import annotations

from pathlib import Path

from loaded_program import GWTUI
from pty_terminal import pty_terminal

DEMO = [*GWTUI, "--demo", "keys"]


def test_the_name_and_the_limit_get_what_is_meant_for_them(demo_home: Path) -> None:
    with pty_terminal(DEMO) as terminal:
        terminal.wait_for("airflow-staging", 60)
        terminal.send("nci\t25")
        terminal.wait_for("$25.00 in all")
        (name,) = [line for line in terminal.screen.display if line.lstrip().startswith("Name")]
        assert name.split()[1] == "ci"
        terminal.send("\x03")
        terminal.wait_for("Quit now?")
        terminal.send("y")
        assert terminal.wait_exit() == 0


def test_a_terminal_that_is_gone_ends_the_program_whatever_was_typed_ahead(
    demo_home: Path,
) -> None:
    with pty_terminal(DEMO) as terminal:
        terminal.wait_for("airflow-staging", 60)
        terminal.send("nci\t25" + "\t" * 200)
        terminal.hang_up()
        terminal.process.wait(5)
