"""Which addresses and tokens a connection accepts."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from gwtui.client.connection import Connection, InvalidConnectionError


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://gw.test/api/v1", "https://gw.test/api/v1"),
        ("https://gw.test/api/v1/", "https://gw.test/api/v1"),
        (" https://gw.test ", "https://gw.test/api/v1"),
        ("https://gw.test/", "https://gw.test/api/v1"),
        ("https://gw.test:8443/proxy/api/v1//", "https://gw.test:8443/proxy/api/v1"),
        ("HTTPS://gw.test", "https://gw.test/api/v1"),
    ],
)
def test_an_address_has_one_form(given: str, kept: str) -> None:
    assert Connection(given).base_url == kept


@pytest.mark.parametrize(
    "url",
    [
        "",
        "gw.test",
        "ftp://gw.test",
        "file:///etc/passwd",
        "https://",
        "https:///api/v1",
        "https://gw.test:99999/api/v1",
        "https://gw.test:0/api/v1",
        "https://[::1/api/v1",
        "https://gw .test/api/v1",
        "https://gw.test/a\x00b",
        "https://gw.test/api/v1?x=1",
        "https://gw.test/api/v1#x",
        "https://me@gw.test/api/v1",
    ],
)
def test_an_unusable_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidConnectionError):
        Connection(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/api/v1",
        "http://127.9.9.9/api/v1",
        "http://[::1]:1/api/v1",
        "http://localhost/api/v1",
        "http://gw.localhost/api/v1",
    ],
)
def test_plain_http_reaches_this_machine(url: str) -> None:
    assert Connection(url).is_loopback


@pytest.mark.parametrize(
    "url",
    [
        "http://gw.test/api/v1",
        "http://10.0.0.1/api/v1",
        "http://0.0.0.0/api/v1",
        "http://localhost.gw.test/api/v1",
        "http://127.0.0.1.gw.test/api/v1",
        "http://notlocalhost/api/v1",
    ],
)
def test_plain_http_to_elsewhere_needs_permission(url: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidConnectionError, match="plain http"):
        Connection(url)
    assert Connection(url, allow_plain_http=True).is_plain
    assert Connection(url, socket_path=tmp_path / "s").is_plain


@pytest.mark.parametrize("token", ["", " ", "a b", "a\n", "a\r\nX: y", "tökén", "a\x7f"])
def test_a_token_that_cannot_be_sent_is_refused(token: str) -> None:
    with pytest.raises(InvalidConnectionError, match="token"):
        Connection("https://gw.test", token=SecretStr(token))
