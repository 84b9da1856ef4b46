"""Login and first start on a real terminal: typed secrets stay hidden."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gwtui.cli import exits
from gwtui.embedded.faults import FaultInjector
from gwtui.local.first_steps import FIRST_STEPS_FILE as FIRST_STEPS
from gwtui.local.profiles import load_profiles
from loaded_program import GWTUI
from login_kit import ServedGateway, served_gateway
from pty_terminal import pty_terminal


@pytest.fixture(scope="module")
def gateway() -> Iterator[ServedGateway]:
    with served_gateway() as served:
        yield served


def test_login_asks_for_address_and_key_without_echo(
    gateway: ServedGateway, private_home: Path
) -> None:
    with pty_terminal([*GWTUI, "login", "--save-file", "--critical"], columns=120) as terminal:
        terminal.answer(
            ("Gateway URL", f"{gateway.base_url}\r"),
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
def test_a_cancelled_login_stores_nothing(
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
    assert not [
        item for item in private_home.rglob("*") if item.is_file() and item.name != FIRST_STEPS
    ]


# Without a profile --------------------------------------------------------------------------------


def test_d_opens_the_demo(demo_home: Path) -> None:
    """First steps appear at the first start only."""
    (demo_home / "state" / "gwtui" / "first-steps").unlink()
    with pty_terminal(GWTUI, columns=80, rows=24, fresh_process=True) as terminal:
        terminal.answer(("How do you want to start?", "z\rd\r"), ("Welcome to gwtui", "0"))
        terminal.wait_for("oldest sample ")
        terminal.wait_for("UTC")
        terminal.quit()
    assert (demo_home / "state" / "gwtui" / "first-steps").exists()
    with pty_terminal(GWTUI, columns=80, rows=24) as terminal:
        terminal.answer(("How do you want to start?", "d\r"), ("UTC", "q"))
        assert terminal.wait_exit() == exits.OK
        assert "Welcome to gwtui" not in terminal.text


def test_the_start_menu_quits_and_logs_in_to_watch(private_home: Path) -> None:
    with pty_terminal(GWTUI, columns=80, rows=24) as terminal:
        terminal.wait_for("Choose d, l, w or q: ")
        terminal.quit("\x04")
    with served_gateway() as gateway, pty_terminal(GWTUI, columns=120, rows=30) as terminal:
        terminal.answer(
            ("How do you want to start?", "w\r"),
            ("Gateway URL", f"{gateway.base_url}\r"),
            ("Where do you want to store the key?", "f\r"),
            ("Management key for 127.0.0.1", f"{gateway.management}\r"),
        )
        terminal.wait_for("READ-ONLY")
        terminal.wait_for("Board")
        terminal.quit()
        assert gateway.management.encode() not in terminal.raw
    profiles = load_profiles(private_home / "config" / "gwtui" / "profiles.toml").profiles
    assert [profile.read_only for profile in profiles.values()] == [True]


def test_login_asks_again_for_a_wrong_address_or_key(
    private_home: Path,
) -> None:
    faults = FaultInjector(["500:GET /key x1"])
    with (
        served_gateway(faults=faults) as gateway,
        pty_terminal(GWTUI, columns=100, rows=40) as terminal,
    ):
        terminal.answer(
            ("How do you want to start?", "l\r"),
            ("Gateway URL", gateway.base_url.replace("http:", "htp:") + "\r"),
            ("the base URL must begin with", f"{gateway.base_url}\r"),
            ("no gateway responds at this address: Internal Server Error", f"{gateway.base_url}\r"),
            ("there is no keyring", "k\rf\r"),
            ("Management key for 127.0.0.1", "gw-v1-of-nobody\r"),
        )
        terminal.wait_for("Invalid API key")
        terminal.settle()
        faults.arm("500:GET /key x1")
        terminal.send(f"{gateway.management}\r")
        terminal.settle()
        assert terminal.text.count("Internal Server Error") == 2
        assert "In the keyring" not in terminal.text
        terminal.send(f"{gateway.management}\r")
        terminal.wait_for("key: ")
        terminal.quit()
        assert gateway.management.encode() not in terminal.raw
    assert (private_home / "config" / "gwtui" / "profiles.toml").exists()
