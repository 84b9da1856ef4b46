"""The searches for secrets find planted ones."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from sentinels import MARKED, error_text, files, leaks, marked

HIDING = {
    "plain": lambda value: value.encode(),
    "reversed": lambda value: value[::-1].encode(),
    "in JSON": lambda value: json.dumps({"key": value}).encode(),
    "in JSON in JSON": lambda value: json.dumps(json.dumps({"key": value})).encode(),
    "in a URL": lambda value: f"https://x.test/?key={quote(value, safe='')}".encode(),
    "in hex": lambda value: value.encode().hex().encode(),
    "in a repr": lambda value: repr({"key": value}).encode(),
    "in base64": lambda value: base64.b64encode(value.encode()),
    "in the base64 of a longer text": lambda value: base64.b64encode(f"user:{value}".encode()),
    "in url-safe base64": lambda value: base64.urlsafe_b64encode(f"ab{value}".encode()),
    "in UTF-16": lambda value: value.encode("utf-16"),
    "truncated": lambda value: value[6:-6].encode(),
}


@pytest.mark.parametrize("name", MARKED)
@pytest.mark.parametrize("hide", HIDING.values(), ids=HIDING.keys())
def test_encoded_secrets_are_found(name: str, hide, tmp_path: Path) -> None:
    item = marked(name)
    path = tmp_path / "deep" / "file.bin"
    path.parent.mkdir()
    path.write_bytes(b"\x00noise " + hide(item.value) + b" noise")
    assert leaks(files(tmp_path), [item])
    assert not leaks(
        files(tmp_path), [marked(other_name) for other_name in MARKED if other_name != name]
    )


def test_a_masked_secret_is_not_a_leak() -> None:
    value = marked("provider key").value
    assert not leaks({"label": f"{value[:3]}...{value[-4:]}"}, [marked("provider key")])


def test_secrets_in_chained_errors_are_found() -> None:
    def fail(secret: str) -> None:
        try:
            {}[secret]
        except KeyError:
            raise ValueError("harmless") from None

    with pytest.raises(ValueError, match="harmless") as caught:
        fail(marked("token").value)
    assert leaks({"error": error_text(caught.value)}, [marked("token")])
    assert not leaks({"error": str(caught.value)}, [marked("token")])
