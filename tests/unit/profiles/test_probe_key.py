"""What a profile says of probes, and where their key is."""

from __future__ import annotations

import stat
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import SecretStr

from gwtui.local.probe_key import ProbeAccess
from gwtui.local.profile_tables import ProbeSettings
from gwtui.local.profiles import Profile, ProfileError, parse_profiles, resolve
from gwtui.local.tokens import TokenError
from login_kit import DictRing

FILE = Path("profiles.toml")
BASE = '[profiles.work]\nbase_url = "https://gateway.example"\n'
TABLE = BASE + "[profiles.work.probe]\n"
SETTINGS = ProbeSettings(every_minutes=10)


def profile(text: str) -> Profile:
    return parse_profiles(FILE, text).profiles["work"]


def test_there_are_none_unless_a_profile_asks_for_them() -> None:
    assert profile(BASE).probe is None
    environ = {"GWTUI_PROBE_KEY": "gw-probe"}
    assert ProbeAccess.of(profile(BASE), environ) is None
    assert environ == {}, "no program that is started from here shall inherit it"


def test_a_table_is_read() -> None:
    found = profile(
        TABLE + 'every_minutes = 5\nmax_usd_per_day = 0.25\nkey_command = ["k"]\n'
    ).probe
    assert found == ProbeSettings(
        every_minutes=5, max_usd_per_day=Decimal("0.25"), key_command=("k",)
    )
    assert profile(TABLE + "every_minutes = 5\n").probe is not None


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("max_usd_per_day = 1\n", "profiles.work.probe.every_minutes: is required"),
        ("every_minutes = 0\n", "profiles.work.probe.every_minutes"),
        ("every_minutes = 5\nmax_usd_per_day = 0\n", "profiles.work.probe.max_usd_per_day"),
        ("every_minutes = 5\nevry = 1\n", "profiles.work.probe.evry: is not a known key"),
        ('every_minutes = 5\nkey = "x"\n', "no secret is kept in this file"),
        ("every_minutes = 5\nkey_command = []\n", "profiles.work.probe.key_command"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused(lines: str, says: str) -> None:
    with pytest.raises(ProfileError) as caught:
        profile(TABLE + lines)
    assert says in str(caught.value)


def test_another_gateway_is_not_probed_with_the_profiles_key() -> None:
    book = parse_profiles(FILE, TABLE + "every_minutes = 5\n")
    same = resolve("work", "https://gateway.example/api/v1", None, False, {}, book=book)
    assert same.probe is not None
    other = resolve("work", "https://elsewhere.example", None, False, {}, book=book)
    assert other.probe is None


def test_read_only_allows_it_only_where_that_is_said() -> None:
    text = TABLE + "every_minutes = 5\n"
    for found, allowed in (
        (ProbeAccess.of(profile(text), {}), False),
        (ProbeAccess.of(profile(text), {}, allow_tries=True), True),
        (ProbeAccess.of(profile(text + "while_read_only = true\n"), {}), True),
    ):
        assert found is not None
        assert found.allowed is allowed


async def test_the_environment_goes_first_then_the_command_then_the_keyring(
    tmp_path: Path, ring: DictRing
) -> None:
    program = tmp_path / "key"
    program.write_text('#!/bin/sh\necho "gw-command${GWTUI_TOKEN}"\n')
    program.chmod(stat.S_IRWXU)
    ring.held["gwtui", "work probe"] = "gw-keyring"
    environ = {"GWTUI_TOKEN": "-management"}
    with_command = ProbeSettings(every_minutes=10, key_command=(str(program),))
    given = SecretStr("gw-given")
    for settings, from_environment, expected in (
        (with_command, given, "gw-given"),
        (with_command, None, "gw-command"),
        (SETTINGS, None, "gw-keyring"),
    ):
        found = await ProbeAccess(settings, "work", given=from_environment).key(environ)
        assert found.get_secret_value() == expected


async def test_a_keyring_without_an_entry_is_told(ring: DictRing) -> None:
    ring.held["gwtui", "work"] = "gw-management"
    with pytest.raises(TokenError, match=r"there is no key for probes.*no entry work probe"):
        await ProbeAccess(SETTINGS, "work").key({})
