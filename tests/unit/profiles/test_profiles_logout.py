"""gwtui logout and login where a key goes away: what is removed, kept and refused."""

from __future__ import annotations

from pathlib import Path

import keyring
import keyring.backends.fail
import keyring.errors
import pytest
from pydantic import SecretStr

from gwtui.cli import exits
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.local.profiles import load_profiles
from gwtui.local.sealed_keys import DIRECTORY, SealedKeys
from login_kit import Commands, DictRing, ServedGateway

# Logging out


def test_logging_out_keeps_the_profile_unless_told(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, file: Path
) -> None:
    assert gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)[0] == exits.OK
    code, out, err = gwtui("logout")
    assert (code, out, ring.held) == (exits.OK, "", {})
    assert "still works until it is deleted at the gateway" in err
    assert "127-0-0-1" in load_profiles(file).profiles
    assert "no key of profile 127-0-0-1 was stored here" in gwtui("logout")[2]
    assert gwtui("logout", "--forget")[0] == exits.OK
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
    assert gwtui("logout", "--forget")[0] == exits.FAILED
    assert gwtui("logout", "--profile", "127-0-0-1")[0] == exits.FAILED
    ring.trouble = None
    assert gwtui("logout", "--profile", "127-0-0-1")[0] == exits.OK
    assert not ring.held


def test_logging_out_goes_by_profile(ring: DictRing, gwtui: Commands) -> None:
    for words in ((), ("--base-url", "https://gw.test")):
        code, _, err = gwtui("logout", *words)
        assert code == exits.USAGE
        assert "--profile" in err


# New keys that only a stored key opens


def seal_a_new_key(gateway: ServedGateway, home: Path, token: str) -> Path:
    """As the dashboard does between a creation and the word that the value is stored."""
    folder = home / "state" / "gwtui" / DIRECTORY
    keys = SealedKeys(folder, gateway.base_url, SecretStr(token), SYSTEM_CLOCK.now)
    value = SecretStr("gw-v1-SENTINEL-new")
    keys.seal("plan-1", value, name="nightly", key_hash="h", made_at=None)
    keys.close()
    return folder


@pytest.mark.parametrize(
    "words", [("logout",), ("logout", "--forget"), ("profiles", "remove", "127-0-0-1")]
)
def test_a_key_that_opens_a_new_one_does_not_go_by_accident(
    gateway: ServedGateway,
    ring: DictRing,
    gwtui: Commands,
    private_home: Path,
    words: tuple[str, ...],
) -> None:
    assert gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)[0] == exits.OK
    folder = seal_a_new_key(gateway, private_home, gateway.management)
    code, _, err = gwtui(*words)
    assert code == exits.FAILED
    assert "nightly" in err
    assert "gwtui --profile 127-0-0-1 first" in err
    assert list(ring.held.values()) == [gateway.management]
    assert gwtui(*words, "--discard-new-keys")[0] == exits.OK
    assert not ring.held
    assert list(folder.iterdir()), "what is sealed ends by its own time"


def test_another_key_in_its_place_is_refused_the_same_way(
    gateway: ServedGateway, ring: DictRing, gwtui: Commands, private_home: Path
) -> None:
    assert gwtui("login", "--base-url", gateway.base_url, stdin=gateway.management)[0] == exits.OK
    seal_a_new_key(gateway, private_home, gateway.management)
    code, _, err = gwtui("login", stdin=gateway.ordinary)
    assert code == exits.FAILED
    assert "nightly" in err
    assert "nothing was stored" in err
    assert list(ring.held.values()) == [gateway.management]
    assert gwtui("login", stdin=gateway.management)[0] == exits.OK
    assert gwtui("login", "--save-file", stdin=gateway.ordinary)[0] == exits.FAILED
    assert gwtui("login", "--discard-new-keys", stdin=gateway.ordinary)[0] == exits.OK
    # Sealed under another key than the stored one: none of its business.
    assert gwtui("logout")[0] == exits.OK


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
