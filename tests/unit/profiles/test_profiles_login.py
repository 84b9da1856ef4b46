"""gwtui login: where the key goes, what it says and what it refuses."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from gwtui.cli import exits
from gwtui.local.profiles import load_profiles
from login_kit import Commands, DictRing, ServedGateway


def everything_in(folder: Path) -> bytes:
    return b"".join(one.read_bytes() for one in folder.rglob("*") if one.is_file())


# Logging in


def test_a_key_goes_into_the_keyring_and_nowhere_else(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, file: Path, private_home: Path
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
    assert gateway.management.encode() not in everything_in(private_home)
    assert gateway.management not in err


def test_logging_in_again_changes_only_what_is_said(
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


def test_a_name_is_made_from_the_address(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, file: Path
) -> None:
    assert gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)[0] == exits.OK
    assert list(load_profiles(file).profiles) == ["127-0-0-1"]
    code, _, _ = gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)
    assert (code, list(load_profiles(file).profiles)) == (exits.OK, ["127-0-0-1"])
    elsewhere = ("--base-url", "http://127.0.0.1:9")
    code, _, err = gwtui("login", *elsewhere, stdin=gateway.management)
    assert code == exits.USAGE
    assert "--profile" in err


def test_a_key_that_is_no_management_key_is_kept_with_a_warning(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands
) -> None:
    code, _, err = gwtui("login", "--base-url", gateway.base_url, stdin=gateway.ordinary)
    assert code == exits.OK
    assert "not a management key" in err


@pytest.mark.parametrize(
    ("stdin", "says"),
    [
        ("nonsense", "Invalid API key; nothing was stored"),
        ("", "no key was given"),
        ("two words", "more than the token alone"),
        ("x" * 100_000, "far more than a token"),
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
def test_a_wrong_request_is_usage_before_anything_is_asked(
    ring: DictRing, gwtui: Commands, file: Path, words: tuple[str, ...], says: str
) -> None:
    code, out, err = gwtui("login", *words, stdin="unread")
    assert (code, out) == (exits.USAGE, "")
    assert says in err
    assert "SENTINEL" not in err
    assert sys.stdin.read() == "unread"
    assert not file.exists()


def test_a_broken_file_is_named_before_anything_is_asked(
    gwtui: Commands, file: Path, ring: DictRing
) -> None:
    file.parent.mkdir()
    file.write_text("# c\n[profiles.a]\nbase_url = 3\n")
    for command in ("login", "logout", "profiles", "whoami"):
        code, out, err = gwtui(command, stdin="unread")
        assert (code, out) == (exits.USAGE, "")
        assert "profiles.toml: profiles.a.base_url: must be text" in err
        assert sys.stdin.read() == "unread"


def test_without_a_keyring_nothing_is_stored_and_the_ways_are_named(
    gateway: ServedGateway, no_ring: None, gwtui: Commands, file: Path, private_home: Path
) -> None:
    code, out, err = gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)
    assert (code, out) == (exits.FAILED, "")
    for way in ("there is no keyring", "--save-file", "--token-command", "GWTUI_TOKEN"):
        assert way in err
    assert sys.stdin.read() == gateway.management
    assert not file.exists()
    assert gateway.management.encode() not in everything_in(private_home)


def test_only_on_demand_a_private_file_holds_the_key(
    gateway: ServedGateway, no_ring: None, gwtui: Commands, file: Path, private_home: Path
) -> None:
    words = ("login", "--profile", "w..k", "--base-url", gateway.base_url, "--save-file")
    code, _, err = gwtui(*words, stdin=gateway.management)
    saved = private_home / "data" / "gwtui" / "tokens" / "w..k.token"
    assert code == exits.OK
    assert f"stored in plain text in {saved}" in err
    assert [stat.S_IMODE(one.stat().st_mode) for one in (saved, saved.parent)] == [0o600, 0o700]
    assert load_profiles(file).profiles["w..k"].token_file == saved
    assert "token file" in gwtui("whoami")[1]
    # Logging in again stays with the file.
    assert gwtui("login", stdin=gateway.ordinary)[0] == exits.OK
    assert saved.read_text() == f"{gateway.ordinary}\n"
    torn = saved.with_name(".w..k.token.torn")
    torn.write_text(gateway.ordinary)
    saved.with_name("w.token").write_text("another")
    assert gwtui("logout")[0] == exits.OK
    assert [one.name for one in saved.parent.iterdir()] == ["w.token"]
    assert load_profiles(file).profiles["w..k"].token_file is None


def test_a_command_or_a_file_of_ones_own_is_checked_and_named_in_the_profile(
    gateway: ServedGateway, no_ring: None, gwtui: Commands, file: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "key"
    mine.write_text(gateway.management)
    mine.chmod(0o644)
    named = ("login", "--profile", "a", "--base-url", gateway.base_url)
    code, _, err = gwtui(*named, "--token-file", str(mine))
    assert code == exits.FAILED
    assert "chmod 600" in err
    assert not file.exists()
    mine.chmod(0o600)
    assert gwtui(*named, "--token-file", str(mine))[0] == exits.OK
    assert load_profiles(file).profiles["a"].token_file == mine
    assert gwtui(*named, "--token-command", "cat", str(mine), "--flag")[0] == exits.FAILED
    assert gwtui(*named, "--token-command", "cat", str(mine))[0] == exits.OK
    profile = load_profiles(file).profiles["a"]
    assert (profile.token_command, profile.token_file) == (("cat", str(mine)), None)
    code, _, err = gwtui("logout")
    assert code == exits.OK
    assert "the key that cat prints is not removed" in err
    assert mine.exists()


def test_a_copy_that_is_no_longer_looked_for_does_not_stay(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, private_home: Path
) -> None:
    named = ("login", "--profile", "a", "--base-url", gateway.base_url)
    assert gwtui(*named, stdin=gateway.management)[0] == exits.OK
    code, _, err = gwtui(*named, "--save-file", stdin=gateway.management)
    assert (code, ring.held) == (exits.OK, {})
    assert "removed the key of profile a from the keyring" in err
    assert gwtui(*named, "--keyring", stdin=gateway.management)[0] == exits.OK
    assert list(ring.held) == [("gwtui", "a")]
    assert not list((private_home / "data" / "gwtui" / "tokens").iterdir())


def test_a_keyring_that_drops_keys_is_found_out(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, file: Path
) -> None:
    ring.keeps = False
    code, _, err = gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)
    assert code == exits.FAILED
    assert "did not keep" in err
    assert not file.exists()


def test_an_unreachable_gateway_stores_nothing(
    ring: DictRing, gwtui: Commands, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gwtui.client.call.BASE_WAIT", 0.0)
    code, _, err = gwtui("login", "--base-url", "http://127.0.0.1:9", stdin="key")
    assert code == exits.FAILED
    assert "connection refused; nothing was stored" in err
    assert not ring.held
    assert not file.exists()


def test_the_variable_is_no_source_for_login_and_reaches_no_child(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GWTUI_TOKEN", gateway.ordinary)
    code, _, err = gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)
    assert code == exits.OK
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


def test_a_profile_that_moves_says_so(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, file: Path
) -> None:
    file.parent.mkdir()
    file.write_text("[profiles.a]\nbase_url = 'https://old.test'\n")
    named = ("login", "--profile", "a", "--base-url", gateway.base_url)
    code, _, err = gwtui(*named, stdin=gateway.management)
    assert code == exits.OK
    assert f"moves from old.test to {gateway.host}" in err
