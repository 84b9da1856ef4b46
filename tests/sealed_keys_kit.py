"""A directory of sealed keys at a moment, for tests of them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from gwtui.local.sealed_keys import SealedKeys, SealedKeysFound

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
URL = "https://gateway.example/api/v1"
TOKEN = SecretStr("management-token-1")
VALUE = "gw-v1-" + "5ec7e7" * 10
PLAN = "0123456789abcdef0123456789abcdef"


class Desk:
    """One person's directory, seen by as many processes as the test likes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = NOW

    def keys(self, token: SecretStr | None = TOKEN, gateway: str = URL) -> SealedKeys:
        return SealedKeys(self.folder, gateway, token, lambda: self.now)

    def seal(self, plan: str = PLAN, name: str = "ci", **where: Any) -> SealedKeys:
        keys = self.keys(**where)
        keys.seal(plan, SecretStr(VALUE), name=name, key_hash="hash-1", made_at=NOW)
        return keys

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.iterdir())

    @property
    def file(self) -> Path:
        (file,) = self.files
        return file


def reopened(desk: Desk, **where: Any) -> SealedKeysFound:
    return desk.keys(**where).find()
