"""Logging in on a real terminal: what is typed stays unseen, what is left to children is clean."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gwtui.cli import exits
from gwtui.local.dashboard_state import FIRST_STEPS_FILE as FIRST_STEPS
from gwtui.local.profiles import load_profiles
from loaded_program import GWTUI
from login_kit import ServedGateway, served_gateway
from pty_terminal import pty_terminal


@pytest.fixture(scope="module")
def gateway() -> Iterator[ServedGateway]:
    with served_gateway() as served:
        yield served


def test_address_and_key_are_asked_for_and_the_key_is_never_shown(
    gateway: ServedGateway, private_home: Path
) -> None:
    with pty_terminal([*GWTUI, "login", "--save-file", "--critical"], columns=120) as terminal:
        terminal.answer(
            ("Address of the gateway", f"{gateway.base_url}\r"),
            ("Management key for 127.0.0.1", f"{gateway.management}\r"),
        )
        assert terminal.wait_exit() == exits.OK
        terminal.wait_for("is now the default")
        assert gateway.management.encode() not in terminal.raw
        assert terminal.left_over_modes() == []
    profiles = load_profiles(private_home / "config" / "gwtui" / "profiles.toml")
    profile = profiles.profiles["127-0-0-1"]
    assert (profile.base_url, profile.critical) == (gateway.base_url, True)


@pytest.mark.parametrize("keys", ["\x03", "\x04"])
def test_giving_up_at_the_prompt_stores_nothing(
    gateway: ServedGateway, private_home: Path, keys: str
) -> None:
    command = [*GWTUI, "login", "--save-file", "--base-url", gateway.base_url]
    with pty_terminal(command) as terminal:
        terminal.wait_for("Management key for")
        terminal.send("\r")
        terminal.wait_for("no key was given")
        terminal.settle()
        terminal.send(keys)
        assert terminal.wait_exit() == exits.FAILED
        terminal.wait_for("cancelled")
        assert "Traceback" not in terminal.text
        assert terminal.left_over_modes() == []
    assert not [one for one in private_home.rglob("*") if one.is_file() and one.name != FIRST_STEPS]
