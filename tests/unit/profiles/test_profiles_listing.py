"""gwtui profiles and whoami: what they tell, and that listing reads no key."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from gwtui.cli import exits
from gwtui.local.profiles import load_profiles
from login_kit import Commands, DictRing, ServedGateway

# Listing


BOOK = """
default = "work"
[profiles.work]
base_url = "https://gw.test/api/v1"
token_command = ["pass", "SENTINEL-argument"]
critical = true
[profiles.lab]
base_url = "https://lab.test:8443"
dialect = "openrouter"
read_only = true
token_file = "/k"
[profiles."a\\u001b[31m"]
base_url = "https://x.test"
colour = "red"
"""


def test_profiles_are_listed_without_a_key_being_read(
    gwtui: Commands, file: Path, ring: DictRing
) -> None:
    ring.trouble = AssertionError("the keyring was asked")
    file.parent.mkdir()
    file.write_text(BOOK)
    code, out, err = gwtui("profiles")
    assert code == exits.OK
    assert [line.split()[:5] for line in out.splitlines()] == [
        ["name", "default", "host", "dialect", "read"],
        ["work", "yes", "gw.test", "generic", "no"],
        ["lab", "no", "lab.test:8443", "openrouter", "yes"],
        ["a\u241b[31m", "no", "x.test", "generic", "no"],
    ]
    assert "token command pass" in out
    assert "token file /k" in out
    assert "colour: is not a known setting" in err
    code, out, _ = gwtui("profiles", "--output", "json")
    listed = json.loads(out)
    assert [one["name"] for one in listed] == ["work", "lab", "a\u001b[31m"]
    assert listed[1] == {
        "name": "lab",
        "default": False,
        "base_url": "https://lab.test:8443/api/v1",
        "host": "lab.test:8443",
        "dialect": "openrouter",
        "read_only": True,
        "critical": False,
        "token_source": "token file",
        "key_from": "token file /k",
    }
    assert "SENTINEL" not in out


def test_the_default_is_chosen_and_profiles_are_removed(
    gwtui: Commands, file: Path, ring: DictRing
) -> None:
    file.parent.mkdir()
    file.write_text(BOOK)
    assert gwtui("profiles", "default", "lab")[0] == exits.OK
    assert load_profiles(file, keep_unknown=True).default == "lab"
    assert gwtui("profiles", "default", "none")[0] == exits.USAGE
    assert gwtui("profiles", "remove", "none")[0] == exits.USAGE
    ring.held["gwtui", "lab"] = "k"
    assert gwtui("profiles", "remove", "lab")[0] == exits.OK
    found = load_profiles(file, keep_unknown=True)
    assert (list(found.profiles), found.default) == (["work", "a\u001b[31m"], None)
    assert not ring.held


def test_no_profiles_is_no_error(gwtui: Commands) -> None:
    code, out, err = gwtui("profiles")
    assert (code, out) == (exits.OK, "")
    assert "run gwtui login" in err
    assert gwtui("profiles", "--output", "json")[1] == "[]\n"


# Who am I


def test_whoami_names_profile_source_key_and_person(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands
) -> None:
    named = ("--profile", "work", "--base-url", gateway.base_url)
    assert gwtui("login", *named, "--critical", stdin=gateway.management)[0] == exits.OK
    code, out, err = gwtui("whoami")
    assert (code, err) == (exits.OK, "")
    shown = dict(line.strip().split("  ", 1) for line in out.splitlines() if "  " in line.strip())
    shown = {name.strip(): value.strip() for name, value in shown.items()}
    assert shown["profile"] == "work"
    assert shown["gateway"] == gateway.base_url
    assert shown["key from"] == "keyring"
    assert shown["critical"] == "CRITICAL"
    assert shown["management key"] == "yes"
    assert "@" in shown["operator"]
    assert gateway.management not in out
    code, out, _ = gwtui("whoami", "--output", "json", "--read-only")
    told = json.loads(out)
    assert (told["profile"], told["token_source"], told["critical"]) == ("work", "keyring", True)
    assert (told["read_only"], told["can_write"]) == (True, False)
    assert told["key"]["is_management_key"] is True
    assert told["key"]["limit"] is None


def test_whoami_tells_an_ordinary_key_and_an_address_alone(
    gateway: ServedGateway, no_ring: None, gwtui: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GWTUI_TOKEN", gateway.ordinary)
    code, out, _ = gwtui("whoami", "--base-url", gateway.base_url)
    assert code == exits.OK
    assert "READ-ONLY: not a management key" in out
    assert "environment" in out
    assert "none (address only)" in out


def test_whoami_without_a_key_or_a_gateway_says_so(
    gateway: ServedGateway, no_ring: None, gwtui: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = gwtui("whoami", "--base-url", gateway.base_url, stdin="unread")
    assert (code, out) == (exits.FAILED, "")
    assert "run gwtui login" in err
    assert sys.stdin.read() == "unread"
    code, _, err = gwtui("whoami")
    assert code == exits.USAGE
    assert "--base-url" in err
    monkeypatch.setenv("GWTUI_TOKEN", "wrong")
    code, out, err = gwtui("whoami", "--base-url", gateway.base_url)
    assert (code, out) == (exits.FAILED, "")
    assert "Invalid API key" in err
