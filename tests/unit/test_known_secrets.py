"""Removing secrets from texts: known ones in every usual encoding, likely ones by format."""

from __future__ import annotations

import base64
import gc
import json
from urllib.parse import quote

import pytest
from pydantic import SecretStr

from gwtui.domain.known_secrets import HIDDEN, redactor, remember, without_secrets

pytestmark = pytest.mark.usefixtures("own_secrets_only")


VALUES = (
    "plain-SENTINEL-0123456789",
    "with spaces/and?=&%+ SENTINEL",
    "quotes\"and'back\\slash-SENTINEL",
    "ünïcode-日本-SENTINEL",
    "two\nlines-SENTINEL",
)


def forms(value: str) -> dict[str, str]:
    return {
        "plain": value,
        "json": json.dumps({"key": value}),
        "url": quote(value, safe=""),
        "repr": repr(value),
        **{
            f"base64 {before}": base64.b64encode(before + value.encode() + b"; end").decode()
            for before in (b"", b"u", b"u:", b"Basic ")
        },
        "url-safe base64": base64.urlsafe_b64encode(b"u:" + value.encode()).decode(),
    }


@pytest.mark.parametrize("value", VALUES)
def test_a_known_secret_is_hidden_in_every_form(value: str) -> None:
    secret = SecretStr(value)
    remember(secret)
    for form, text in forms(value).items():
        masked = without_secrets(f"cannot send {text} to host")
        assert HIDDEN in masked, form
        assert "SENTINEL" not in masked
        assert masked.startswith("cannot send ")
        assert masked.endswith(" to host")


def test_a_secret_is_forgotten_with_who_held_it() -> None:
    secret = SecretStr("forgotten-value")
    remember(secret)
    assert without_secrets("forgotten-value") == HIDDEN
    del secret
    gc.collect()
    assert without_secrets("forgotten-value") == "forgotten-value"


def test_the_same_secret_twice_is_known_until_the_last_is_gone() -> None:
    first, second = SecretStr("held-by-two"), SecretStr("held-by-two")
    remember(first, second, None)
    del first
    gc.collect()
    assert without_secrets("held-by-two") == HIDDEN
    assert second.get_secret_value() == "held-by-two"


def test_the_longest_matching_secret_is_masked_first() -> None:
    hide = redactor([SecretStr("abcdefgh"), SecretStr("abcdefghijkl")])
    assert hide("abcdefghijkl, abcdefgh") == f"{HIDDEN}, {HIDDEN}"


def test_very_short_secrets_are_not_masked() -> None:
    hide = redactor([SecretStr("alphabe"), SecretStr("")])
    assert hide("the alphabet") == "the alphabet"


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer SENTINEL",
        "{'authorization': 'Bearer SENTINEL'}",
        "(b'Authorization', b'Basic SENTINEL')",
        "bearer SENTINEL",
        '{"api_key": "SENTINEL"}',
        "api-key=SENTINEL&x=1",
        "password: SENTINEL",
        "GWTUI_TOKEN=SENTINEL",
        "sk-or-v1-SENTINEL00",
        "gw-mgmt-v1-SENTINEL",
        "https://user:SENTINEL@host/path",
    ],
)
def test_secret_looking_text_is_hidden(text: str) -> None:
    assert "SENTINEL" not in without_secrets(text)


@pytest.mark.parametrize(
    "text",
    [
        "GET /keys/{hash} -> 401 in 12 ms",
        "connected to gateway.example, key from token command",
        "feed keys: unexpected ValueError",
        "https://gateway.example/api/v1",
        "the keyring has no management key for profile work",
    ],
)
def test_harmless_text_stays(text: str) -> None:
    assert without_secrets(text) == text
