"""The rules that a person wants for one gateway, read again when the file changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gwtui.domain.alert_rules import AlertRule
from gwtui.local.alert_file import AlertBook, AlertFileError, load_alerts


class WantedRules:
    """The file of rules as it was understood last; ``problem`` says why the newest was not."""

    def __init__(self, path: Path, profile: str) -> None:
        self.path = path
        self.problem = ""
        self.book = AlertBook()
        self._profile = profile
        self._version: tuple[int, int, int] | None = None
        self._read = False
        self._active: Mapping[str, AlertRule] = {}

    def refresh(self) -> Mapping[str, AlertRule]:
        """The rules for this profile; the same object as long as nothing changed. Never raises."""
        version = self._stamp()
        if not self._read or version != self._version:
            self._read, self._version = True, version
            try:
                self.book = load_alerts(self.path)
            except AlertFileError as error:
                self.problem = f"The rules stay as they were: {error}"
                if not self._active:
                    self._active = self._of_profile()
            else:
                self.problem = ""
                self._active = self._of_profile()
        return self._active

    def _of_profile(self) -> Mapping[str, AlertRule]:
        return {
            identity: rule
            for identity, rule in self.book.rules.items()
            if rule.profile in (None, self._profile)
        }

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size
