"""The journeys of the manual in the real command, in tmux: each does what it says, in few keys."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from counted_journeys import COUNTED, CountedJourney
from login_kit import served_gateway
from tmux_terminal import TmuxTerminal, needs_tmux, tmux_terminal

DEMO = [sys.executable, "-m", "gwtui", "--demo", "keys"]
PROFILE = """
default = "staging"

[profiles.staging]
base_url = "{url}"
token_file = "{file}"
"""


@needs_tmux
@pytest.mark.timeout(240)
def test_every_journey_leads_where_it_says(demo_home: Path, tmp_path: Path) -> None:
    with served_gateway() as staging:
        key = tmp_path / "key"
        key.write_text(staging.management)
        key.chmod(0o600)
        profiles = demo_home / "config" / "gwtui" / "profiles.toml"
        profiles.parent.mkdir(mode=0o700)
        profiles.write_text(PROFILE.format(url=staging.base_url, file=key))
        profiles.chmod(0o600)
        with tmux_terminal(DEMO, tmp_path) as terminal:
            for journey in COUNTED:
                terminal.press("2")
                terminal.wait_for(on_screen(r"\d+ keys · by "), "the list of keys", 60)
                travel(terminal, journey)


def travel(terminal: TmuxTerminal, journey: CountedJourney) -> None:
    """Press its keys, as many at once as lead to something to be seen."""
    held: list[str] = []
    for step in journey.steps:
        for stroke in step.strokes:
            held += stroke.keys
        if step.shows:
            terminal.press(held)
            held.clear()
            for wanted in step.shows:
                terminal.wait_for(on_screen(wanted), f"{journey.title}: {step.does}: {wanted}")
    assert not held
    assert re.fullmatch(journey.copies or ".*", terminal.copied() if journey.copies else "")


def on_screen(wanted: str) -> Callable[[str], object]:
    """Whether a screen has what is wanted."""
    yesterday = (datetime.now(UTC) - timedelta(days=1)).date()
    pattern = re.compile(wanted.replace("{yesterday}", str(yesterday)), re.MULTILINE)
    return pattern.search
