"""gwtui login, logout, profiles and whoami: where keys are stored, and the output."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backends.fail
import keyring.errors
import pytest

from gwtui.cli import exits
from gwtui.local.profiles import load_profiles
from login_kit import Commands, DictRing, ServedGateway, served_gateway


@pytest.fixture(scope="module")
def gateway() -> Iterator[ServedGateway]:
    with served_gateway() as served:
        yield served


@pytest.fixture
def no_ring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "get_keyring", keyring.backends.fail.Keyring)


@pytest.fixture
def gwtui(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(monkeypatch, capsys)


@pytest.fixture
def file(private_home: Path) -> Path:
    return private_home / "config" / "gwtui" / "profiles.toml"


# Logging in


def test_a_key_goes_into_the_keyring(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, file: Path
) -> None:
    code, out, err = gwtui(
        "login", "--profile", "work", "--base-url", gateway.base_url, stdin=gateway.management
    )
    assert (code, out) == (exits.OK, ""), err
    assert ring.held == {("gwtui", "work"): gateway.management}
    assert "management key gw-mgmt" in err
    assert "stored in the keyring" in err
    assert file.read_text() == (
        f'default = "work"\n\n[profiles.work]\nbase_url = "{gateway.base_url}"\n'
    )
    assert gateway.management not in err


def test_logging_in_again_changes_only_given_options(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, file: Path
) -> None:
    file.parent.mkdir()
    owners = f"# mine\n[profiles.work] # here\nbase_url = '{gateway.base_url}/'\ncolour = 1\n"
    file.write_text(f'default = "work"\n{owners}')
    assert gwtui("login", stdin=gateway.management)[0] == exits.OK
    assert file.read_text() == f'default = "work"\n{owners}'
    flags = ("--critical", "--read-only", "--dialect", "openrouter")
    assert gwtui("login", *flags, stdin=gateway.management)[0] == exits.OK
    assert file.read_text() == (
        f'default = "work"\n{owners}read_only = true\ncritical = true\ndialect = "openrouter"\n'
    )
    assert gwtui("login", stdin=gateway.ordinary)[0] == exits.OK
    assert ring.held == {("gwtui", "work"): gateway.ordinary}
    assert load_profiles(file, keep_unknown=True).profiles["work"].critical


def test_login_derives_the_profile_name_from_the_url(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, file: Path
) -> None:
    assert gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)[0] == exits.OK
    assert list(load_profiles(file).profiles) == ["127-0-0-1"]
    code, _, _ = gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)
    assert (code, list(load_profiles(file).profiles)) == (exits.OK, ["127-0-0-1"])
    elsewhere = ("--base-url", "http://127.0.0.1:9")
    _, err = gwtui.expect(exits.USAGE, "login", *elsewhere, stdin=gateway.management)
    assert "--profile" in err


def test_a_key_that_is_no_management_key_is_kept_with_a_warning(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands
) -> None:
    _, err = gwtui.expect(exits.OK, "login", "--base-url", gateway.base_url, stdin=gateway.ordinary)
    assert "not a management key" in err


@pytest.mark.parametrize(
    ("stdin", "says"),
    [
        ("nonsense", "Invalid API key; nothing was stored"),
        ("", "no key was given"),
        ("two words", "more than the key alone"),
        ("x" * 100_000, "far more than a key"),
    ],
)
def test_a_key_that_does_not_work_is_not_kept(
    gateway: ServedGateway,
    ring: DictRing,
    gwtui: Commands,
    file: Path,
    stdin: str,
    says: str,
) -> None:
    code, out, err = gwtui("login", "--base-url", gateway.base_url, stdin=stdin)
    assert (code, out) == (exits.FAILED, "")
    assert says in err
    assert not ring.held
    assert not file.exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "no gateway is given"),
        (("--base-url", "ftp://x"), "must begin with https://"),
        (("--base-url", "http://gw.test"), "plain http to gw.test"),
        (("--base-url", "https://u:SENTINEL@gw.test"), "must not hold a user name"),
        (("--profile", "a/b", "--base-url", "https://gw.test"), "a profile name consists"),
        (("--base-url", "https://gw.test", "--token-command"), "needs a program"),
        (("--keyring", "--save-file"), "not allowed with"),
        (("some-key",), "unrecognized arguments"),
        (("--token", "some-key"), "unrecognized arguments"),
    ],
)
def test_invalid_login_options_are_usage_errors(
    ring: DictRing, gwtui: Commands, file: Path, words: tuple[str, ...], says: str
) -> None:
    code, out, err = gwtui("login", *words, stdin="unread")
    assert (code, out) == (exits.USAGE, "")
    assert says in err
    assert "SENTINEL" not in err
    assert sys.stdin.read() == "unread"
    assert not file.exists()


def test_a_broken_profile_file_is_reported_first(
    gwtui: Commands, file: Path, ring: DictRing
) -> None:
    file.parent.mkdir()
    file.write_text("# c\n[profiles.a]\nbase_url = 3\n")
    for command in ("login", "logout", "profiles", "whoami"):
        code, out, err = gwtui(command, stdin="unread")
        assert (code, out) == (exits.USAGE, "")
        assert "profiles.toml: profiles.a.base_url: must be text" in err
        assert sys.stdin.read() == "unread"


def test_login_without_a_keyring_stores_nothing_and_names_alternatives(
    gateway: ServedGateway, no_ring: None, gwtui: Commands, file: Path
) -> None:
    code, out, err = gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)
    assert (code, out) == (exits.FAILED, "")
    for way in ("there is no keyring", "--save-file", "--token-command", "GWTUI_TOKEN"):
        assert way in err
    assert sys.stdin.read() == gateway.management
    assert not file.exists()


def test_save_file_stores_the_key_in_a_private_file(
    gateway: ServedGateway, no_ring: None, gwtui: Commands, file: Path, private_home: Path
) -> None:
    words = ("login", "--profile", "w..k", "--base-url", gateway.base_url, "--save-file")
    code, _, err = gwtui(*words, stdin=gateway.management)
    saved = private_home / "data" / "gwtui" / "tokens" / "w..k.token"
    assert code == exits.OK
    assert f"stored in plain text in {saved}" in err
    assert [stat.S_IMODE(item.stat().st_mode) for item in (saved, saved.parent)] == [0o600, 0o700]
    assert load_profiles(file).profiles["w..k"].token_file == saved
    assert "token file" in gwtui("whoami")[1]
    # Logging in again stays with the file.
    assert gwtui("login", stdin=gateway.ordinary)[0] == exits.OK
    assert saved.read_text() == f"{gateway.ordinary}\n"
    torn = saved.with_name(".w..k.token.torn")
    torn.write_text(gateway.ordinary)
    saved.with_name("w.token").write_text("another")
    assert gwtui("logout")[0] == exits.OK
    assert [item.name for item in saved.parent.iterdir()] == ["w.token"]
    assert load_profiles(file).profiles["w..k"].token_file is None


def test_a_token_command_or_file_is_checked_and_stored(
    gateway: ServedGateway, no_ring: None, gwtui: Commands, file: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "key"
    mine.write_text(gateway.management)
    mine.chmod(0o644)
    login = ("login", "--profile", "a", "--base-url", gateway.base_url)
    _, err = gwtui.expect(exits.FAILED, *login, "--token-file", str(mine))
    assert "chmod 600" in err
    assert not file.exists()
    mine.chmod(0o600)
    assert gwtui(*login, "--token-file", str(mine))[0] == exits.OK
    assert load_profiles(file).profiles["a"].token_file == mine
    assert gwtui(*login, "--token-command", "cat", str(mine), "--flag")[0] == exits.FAILED
    assert gwtui(*login, "--token-command", "cat", str(mine))[0] == exits.OK
    profile = load_profiles(file).profiles["a"]
    assert (profile.token_command, profile.token_file) == (("cat", str(mine)), None)
    _, err = gwtui.expect(exits.OK, "logout")
    assert "the key that cat prints is not removed" in err
    assert mine.exists()


def test_an_unused_copy_of_the_key_is_removed(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, private_home: Path
) -> None:
    login = ("login", "--profile", "a", "--base-url", gateway.base_url)
    assert gwtui(*login, stdin=gateway.management)[0] == exits.OK
    code, _, err = gwtui(*login, "--save-file", stdin=gateway.management)
    assert (code, ring.held) == (exits.OK, {})
    assert "removed the key of profile a from the keyring" in err
    assert gwtui(*login, "--keyring", stdin=gateway.management)[0] == exits.OK
    assert list(ring.held) == [("gwtui", "a")]
    assert not list((private_home / "data" / "gwtui" / "tokens").iterdir())


def test_a_keyring_that_loses_keys_is_detected(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, file: Path
) -> None:
    ring.keeps = False
    _, err = gwtui.expect(
        exits.FAILED, "login", "--base-url", gateway.base_url, stdin=gateway.management
    )
    assert "did not keep" in err
    assert not file.exists()


def test_an_unreachable_gateway_stores_nothing(
    ring: DictRing, gwtui: Commands, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gwtui.client.call.BASE_WAIT", 0.0)
    _, err = gwtui.expect(exits.FAILED, "login", "--base-url", "http://127.0.0.1:9", stdin="key")
    assert "connection refused; nothing was stored" in err
    assert not ring.held
    assert not file.exists()


def test_login_ignores_the_environment_token(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GWTUI_TOKEN", gateway.ordinary)
    _, err = gwtui.expect(
        exits.OK, "login", "--base-url", gateway.base_url, stdin=gateway.management
    )
    assert list(ring.held.values()) == [gateway.management]
    assert "GWTUI_TOKEN is set in this shell" in err
    assert "GWTUI_TOKEN" not in os.environ


def test_the_environment_names_profile_and_gateway(
    gateway: ServedGateway,
    ring: DictRing,
    gwtui: Commands,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GWTUI_PROFILE", "named")
    monkeypatch.setenv("GWTUI_BASE_URL", gateway.base_url)
    assert gwtui("login", stdin=gateway.management)[0] == exits.OK
    assert list(ring.held) == [("gwtui", "named")]
    assert gwtui("login", "--profile", "other", stdin=gateway.management)[0] == exits.USAGE
    assert gwtui("logout")[0] == exits.OK
    assert list(load_profiles(file).profiles) == ["named"]


def test_moving_a_profile_is_reported(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, file: Path
) -> None:
    file.parent.mkdir()
    file.write_text("[profiles.a]\nbase_url = 'https://old.test'\n")
    login = ("login", "--profile", "a", "--base-url", gateway.base_url)
    _, err = gwtui.expect(exits.OK, *login, stdin=gateway.management)
    assert f"moves from old.test to {gateway.host}" in err


# Logging out


def test_logout_keeps_the_profile_by_default(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, file: Path
) -> None:
    assert gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)[0] == exits.OK
    code, out, err = gwtui("logout")
    assert (code, out, ring.held) == (exits.OK, "", {})
    assert "keeps working until it is deleted at the gateway" in err
    assert "127-0-0-1" in load_profiles(file).profiles
    assert "no key of profile 127-0-0-1 was stored here" in gwtui("logout")[2]
    assert gwtui("profiles", "remove", "127-0-0-1")[0] == exits.OK
    assert load_profiles(file).profiles == {}
    _, err = gwtui.expect(exits.USAGE, "logout", "--profile", "127-0-0-1")
    assert "there is no profile" in err


def test_logout_reports_keys_that_could_not_be_removed(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands
) -> None:
    assert gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)[0] == exits.OK
    ring.trouble = keyring.errors.KeyringLocked(gateway.management)
    _, err = gwtui.expect(exits.FAILED, "logout")
    assert "may still be in the keyring: the keyring is locked" in err
    assert gateway.management not in err
    # The profile can be removed anyway; its key is still found by name.
    assert gwtui("profiles", "remove", "127-0-0-1")[0] == exits.FAILED
    assert gwtui("logout", "--profile", "127-0-0-1")[0] == exits.FAILED
    ring.trouble = None
    assert gwtui("logout", "--profile", "127-0-0-1")[0] == exits.OK
    assert not ring.held


def test_logging_out_goes_by_profile(ring: DictRing, gwtui: Commands) -> None:
    for words in ((), ("--base-url", "https://gw.test")):
        _, err = gwtui.expect(exits.USAGE, "logout", *words)
        assert "--profile" in err


def test_a_keyring_out_of_order_is_left_for_a_file(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, file: Path
) -> None:
    assert gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)[0] == exits.OK
    ring.trouble = keyring.errors.KeyringLocked()
    _, err = gwtui.expect(exits.OK, "login", "--save-file", stdin=gateway.management)
    assert "may still be in the keyring: the keyring is locked" in err
    assert load_profiles(file).profiles["127-0-0-1"].token_file is not None
    assert gwtui("logout")[0] == exits.OK


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
    out, err = gwtui.expect(exits.OK, "profiles")
    assert [line.split()[:5] for line in out.splitlines()] == [
        ["name", "default", "host", "dialect", "read"],
        ["work", "yes", "gw.test", "generic", "no"],
        ["lab", "no", "lab.test:8443", "openrouter", "yes"],
        ["a\u241b[31m", "no", "x.test", "generic", "no"],
    ]
    assert "token command pass" in out
    assert "token file /k" in out
    assert "colour: unknown setting" in err
    out, _ = gwtui.expect(exits.OK, "profiles", "--output", "json")
    listed = json.loads(out)
    assert [row["name"] for row in listed] == ["work", "lab", "a\u001b[31m"]
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
    result = load_profiles(file, keep_unknown=True)
    assert (list(result.profiles), result.default) == (["work", "a\u001b[31m"], None)
    assert not ring.held


def test_an_empty_list_of_profiles_is_no_error(gwtui: Commands) -> None:
    code, out, err = gwtui("profiles")
    assert (code, out) == (exits.OK, "")
    assert "run gwtui login" in err
    assert gwtui("profiles", "--output", "json")[1] == "[]\n"


# Who am I


def test_whoami_names_profile_source_key_and_person(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands
) -> None:
    options = ("--profile", "work", "--base-url", gateway.base_url)
    assert gwtui("login", *options, "--critical", stdin=gateway.management)[0] == exits.OK
    code, out, err = gwtui("whoami")
    assert (code, err) == (exits.OK, "")
    rows = dict(line.strip().split("  ", 1) for line in out.splitlines() if "  " in line.strip())
    rows = {name.strip(): value.strip() for name, value in rows.items()}
    assert rows["profile"] == "work"
    assert rows["gateway"] == gateway.base_url
    assert rows["key from"] == "keyring"
    assert rows["critical"] == "CRITICAL"
    assert rows["management key"] == "yes"
    assert "@" in rows["operator"]
    assert gateway.management not in out
    code, out, _ = gwtui("whoami", "--output", "json", "--read-only")
    document = json.loads(out)
    assert (document["profile"], document["token_source"], document["critical"]) == (
        "work",
        "keyring",
        True,
    )
    assert (document["read_only"], document["can_write"]) == (True, False)
    assert document["key"]["is_management_key"] is True
    assert document["key"]["limit"] is None


def test_whoami_with_an_inference_key_or_url_only(
    gateway: ServedGateway, no_ring: None, gwtui: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GWTUI_TOKEN", gateway.ordinary)
    out, _ = gwtui.expect(exits.OK, "whoami", "--base-url", gateway.base_url)
    assert "READ-ONLY: not a management key" in out
    assert "environment" in out
    assert "none (address only)" in out


def test_whoami_without_a_key_or_a_gateway_says_so(
    gateway: ServedGateway, no_ring: None, gwtui: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = gwtui("whoami", "--base-url", gateway.base_url, stdin="unread")
    assert (code, out) == (exits.FAILED, "")
    assert "run 'gwtui login --base-url URL' or set GWTUI_TOKEN" in err
    assert sys.stdin.read() == "unread"
    _, err = gwtui.expect(exits.USAGE, "whoami")
    assert "--base-url" in err
    monkeypatch.setenv("GWTUI_TOKEN", "wrong")
    code, out, err = gwtui("whoami", "--base-url", gateway.base_url)
    assert (code, out) == (exits.FAILED, "")
    assert "Invalid API key" in err
