"""Copied rows: complete, one per line, and harmless where they are pasted."""

from __future__ import annotations

import json
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from gwtui.client.call import Call
from gwtui.client.connection import Connection
from gwtui.domain.known_secrets import holds_secret, remember
from gwtui.local.profiles import Profile, ad_hoc_profile
from gwtui.resources.copying import (
    CopySource,
    cell_lines,
    copyables,
    curl,
    declared,
    link,
    row_path,
)
from gwtui.resources.keys.resource import KEYS
from gwtui.watch.feeds.keys import KeyRow
from resource_samples import HOSTILE, NOW, key

TOKEN = "gw-mgmt-v1-0123456789abcdef0123456789abcdef"
LONG = "a name that no cell would show whole " * 9
CONNECTION = Connection(
    "https://gateway.example", SecretStr(TOKEN), label="o'ps", named_by=("--profile", "o'ps")
)
OF_KEYS = declared(KEYS, row_path("keys"))


def row(**changes: Any) -> KeyRow:
    return KeyRow(key(**changes))


def offered(rows: list[KeyRow], connection: Connection | None = CONNECTION) -> dict[str, str]:
    return {
        copyable.kind: copyable.text() for copyable in copyables(OF_KEYS, rows, NOW, connection)
    }


def test_one_row_offers_all_its_values_uncut() -> None:
    result = offered([row(name=LONG.strip())])
    assert list(result) == ["id", "name", "cell", "json", "curl", "link"]
    assert result["id"] == "a" * 64
    assert result["name"] == LONG.strip(), "not truncated as in the list"
    assert json.loads(result["json"])["usage"] == 1234.5
    assert '"usage": 1234.5,' in result["json"]
    assert result["link"] == f"gwtui --profile 'o'\"'\"'ps' keys/{'a' * 64}"
    assert result["curl"] == (
        'curl -sS -H "Authorization: Bearer $GWTUI_TOKEN" '
        f"https://gateway.example/api/v1/keys/{'a' * 64}"
    )
    assert not any(TOKEN in text for text in result.values())


def test_copies_are_described_in_a_few_words() -> None:
    ci, web = row(name="ci"), row(name="web", hash="b" * 64)
    assert OF_KEYS.describe([ci], NOW) == "key ci"
    assert OF_KEYS.describe([ci, web], NOW) == "2 marked keys"
    figures = CopySource(KEYS.columns)
    assert figures.describe([ci], NOW) == "“ci”"
    assert figures.describe([ci, web], NOW) == "2 rows"


def test_several_rows_are_copied_as_lines_and_as_an_array() -> None:
    rows = [row(hash="b" * 64, name="two"), row(name="one", limit=None)]
    result = offered(rows)
    assert list(result) == ["id", "name", "cell", "json"]
    assert result["name"] == "two\none"
    assert result["id"] == f"{'b' * 64}\n{'a' * 64}"
    assert [entry["name"] for entry in json.loads(result["json"])] == ["two", "one"]
    limit = next(column for column in KEYS.columns if column.id == "limit")
    assert cell_lines(limit, rows, NOW) == "50\nno limit", "the same as in CSV"
    created = next(column for column in KEYS.columns if column.id == "created")
    assert cell_lines(created, rows[:1], NOW).endswith("T12:00:00Z")


def test_copied_names_cannot_run_in_a_shell() -> None:
    bad = row(hash=HOSTILE, name=f"x\nrm -rf ~\n{HOSTILE}", external_user="$(reboot)")
    result = offered([bad])
    for kind in ("id", "name"):
        assert result[kind].isprintable(), kind
    assert result["json"].isascii()
    assert "link" not in result, "no path can be typed for it"
    assert "curl" not in result, "a lone surrogate cannot be sent"
    tricky = row(hash="a'; echo $HOME `id` #")
    command = offered([tricky])
    assert shlex.split(command["link"])[-1] == "keys/a'; echo $HOME `id` #"
    assert shlex.split(command["curl"])[-1].endswith(
        "/keys/a%27%3B%20echo%20%24HOME%20%60id%60%20%23"
    )


def test_rows_without_identity_or_connection_offer_less() -> None:
    result = offered([row(hash=None)])
    assert list(result) == ["name", "cell", "json"]
    assert list(offered([row()], None)) == ["id", "name", "cell", "json"]


def test_fields_that_look_secret_are_masked() -> None:
    result = offered([row(key="gw-v1-a-whole-key-0123456789", token="t" * 30)])
    assert json.loads(result["json"])["key"] == json.loads(result["json"])["token"] == "********"


def test_a_request_goes_through_the_socket_and_its_key_is_the_shell_s() -> None:
    connection = Connection("http://demo", SecretStr(TOKEN), socket_path=Path("/tmp/a b/s"))
    command = curl(Call("GET", "/generation", query={"id": "gen-1 &x"}), connection)
    assert "--unix-socket '/tmp/a b/s'" in command
    assert TOKEN not in command
    words = subprocess.run(
        ["bash", "-c", command.replace("curl", "printf '%s\\n'")],
        env={"GWTUI_TOKEN": "of-the-shell"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert "Authorization: Bearer of-the-shell" in words
    assert words[-1] == "http://demo/api/v1/generation?id=gen-1%20%26x"


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        (Profile(name="prod", base_url="https://a.example"), "--profile prod"),
        (ad_hoc_profile("https://a.example"), "--base-url https://a.example/api/v1"),
        (
            replace(ad_hoc_profile("https://a.example"), dialect="openrouter"),
            "--base-url https://a.example/api/v1 --dialect openrouter",
        ),
    ],
)
def test_a_link_names_the_gateway(profile: Profile, words: str) -> None:
    connection = profile.connection(SecretStr(TOKEN), "prompt")
    assert link("keys/x", connection) == f"gwtui {words} keys/x"


def test_a_known_secret_is_found_in_wrapped_text() -> None:
    secret = SecretStr("k9-Xq7w2Lm4Zr8Tb6Vn1Pd3")
    remember(secret)
    assert holds_secret('a "k9-Xq7w2Lm4Zr8Tb6Vn1Pd3" b')
    assert holds_secret("k9-Xq7w2Lm4Z\n  r8Tb6Vn1Pd3")
    assert not holds_secret("k9-Xq7w2Lm4Z and others")
    short = SecretStr("dev")
    remember(short)
    assert not holds_secret("the dev team"), "a short secret looks like a word"
    del secret, short
