"""Targets of a profile switch: facts without a key, and the key of that profile only."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gwtui.local.profiles import ProfileError
from gwtui.local.targets import TargetInfo, Targets
from gwtui.local.tokens import TokenError
from login_kit import DictRing

BOOK = """
default = "work"
[profiles.work]
base_url = "https://gw.test/api/v1"
token_command = [{python!r}, "-c", "import os; print('sk-' + str('GWTUI_TOKEN' in os.environ))"]
critical = true
[profiles.lab]
base_url = "https://lab.test:8443"
dialect = "openrouter"
read_only = true
"""


@asynccontextmanager
async def no_demo() -> Any:
    raise AssertionError("only looked at")
    yield


@pytest.fixture
def book(private_home: Path) -> Path:
    file = private_home / "config" / "gwtui" / "profiles.toml"
    file.parent.mkdir()
    file.write_text(BOOK.format(python=sys.executable))
    return file


def test_targets_are_listed_without_reading_keys(book: Path, ring: DictRing) -> None:
    ring.trouble = AssertionError("the keyring was asked")
    work = TargetInfo("work", "gw.test", f"token command {sys.executable}", critical=True)
    lab = TargetInfo("lab", "lab.test:8443", "keyring", read_only=True)
    assert Targets(book).known() == (work, lab)
    # The options of the start apply to each profile.
    result = Targets(book, read_only=True, demo=no_demo).known()
    assert [(facts.name, facts.read_only) for facts in result] == [
        *(("work", True), ("lab", True), ("demo", True)),
    ]
    assert Targets(book.with_name("absent")).known() == ()


async def test_a_key_of_the_environment_goes_to_no_other_gateway(
    book: Path, ring: DictRing
) -> None:
    environ = {"GWTUI_TOKEN": "sk-of-the-start", "HOME": "/"}
    ring.held["gwtui", "lab"] = "sk-lab"
    targets = Targets(book, environ=environ)
    work = await targets.find("work")
    async with work.connect() as connection:
        assert connection.token.get_secret_value() == "sk-False"
        assert connection.critical
    lab = await targets.find("lab")
    async with lab.connect() as connection:
        assert connection.token.get_secret_value() == "sk-lab"
        assert (connection.label, connection.read_only) == ("lab", True)
        assert connection.dialect.name == "openrouter"
    assert lab.info.key_from == "keyring"
    assert "sk-lab" not in repr(lab)


async def test_targets_that_cannot_be_opened_say_why(book: Path, ring: DictRing) -> None:
    with pytest.raises(ProfileError, match="there is no profile 'wrok'; did you mean 'work'"):
        await Targets(book, demo=no_demo).find("wrok")
    with pytest.raises(
        TokenError, match=r"no management key for lab.*run gwtui login --profile lab"
    ):
        await Targets(book).find("lab")
    read_only = await Targets(book, read_only=True).find("work")
    async with read_only.connect() as connection:
        assert connection.read_only
    demo = await Targets(book, demo=no_demo).find("demo")
    assert (demo.info.name, demo.connect) == ("demo", no_demo)
