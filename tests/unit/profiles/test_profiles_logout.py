"""gwtui logout and login where a key goes away: what is removed, kept and refused."""

from __future__ import annotations

from pathlib import Path

import keyring
import keyring.backends.fail
import keyring.errors

from gwtui.cli import exits
from gwtui.local.profiles import load_profiles
from login_kit import Commands, DictRing, ServedGateway

# Logging out


def test_logging_out_keeps_the_profile_unless_told(
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
    code, _, err = gwtui("logout", "--profile", "127-0-0-1")
    assert code == exits.USAGE
    assert "there is no profile" in err


def test_what_could_not_be_removed_is_said(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands
) -> None:
    assert gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)[0] == exits.OK
    ring.trouble = keyring.errors.KeyringLocked(gateway.management)
    code, _, err = gwtui("logout")
    assert code == exits.FAILED
    assert "may still be in the keyring: the keyring is locked" in err
    assert gateway.management not in err
    # The profile can go all the same; the key is still found by its name.
    assert gwtui("profiles", "remove", "127-0-0-1")[0] == exits.FAILED
    assert gwtui("logout", "--profile", "127-0-0-1")[0] == exits.FAILED
    ring.trouble = None
    assert gwtui("logout", "--profile", "127-0-0-1")[0] == exits.OK
    assert not ring.held


def test_logging_out_goes_by_profile(ring: DictRing, gwtui: Commands) -> None:
    for words in ((), ("--base-url", "https://gw.test")):
        code, _, err = gwtui("logout", *words)
        assert code == exits.USAGE
        assert "--profile" in err


def test_a_keyring_out_of_order_is_left_for_a_file(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, file: Path
) -> None:
    assert gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)[0] == exits.OK
    ring.trouble = keyring.errors.KeyringLocked()
    code, _, err = gwtui("login", "--save-file", stdin=gateway.management)
    assert code == exits.OK
    assert "may still be in the keyring: the keyring is locked" in err
    assert load_profiles(file).profiles["127-0-0-1"].token_file is not None
    assert gwtui("logout")[0] == exits.OK
