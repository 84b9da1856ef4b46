"""The key of probes: GWTUI_PROBE_KEY, else the profile's command, else the keyring."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from gwtui.domain.known_secrets import Secret, Token, remember
from gwtui.local import keyring_store
from gwtui.local.keyring_store import KeyringUnavailableError, read_secret
from gwtui.local.profiles import Profile
from gwtui.local.tokens import (
    PROBE_KEY_VARIABLE,
    TOKEN_VARIABLE,
    TokenError,
    take_token,
    token_from_command,
)

if TYPE_CHECKING:
    from gwtui.local.profile_tables import ProbeSettings


@dataclass(frozen=True, slots=True)
class ProbeAccess:
    """The probe settings of a profile, and the source of the probes' key.

    ``allowed``: also while the connection is read-only.
    """

    settings: ProbeSettings
    profile: str
    allowed: bool = False
    given: Secret | None = None
    """From the environment."""

    @classmethod
    def of(
        cls,
        profile: Profile,
        environ: MutableMapping[str, str] | None = None,
        *,
        allow_tries: bool = False,
    ) -> Self | None:
        """None where the profile wants none. The variable is taken out of the environment."""
        text = take_token(os.environ if environ is None else environ, PROBE_KEY_VARIABLE)
        if profile.probe is None:
            return None
        given = Token(text) if text else None
        return cls(profile.probe, profile.name, allow_tries or profile.probe.while_read_only, given)

    @property
    def keyring_name(self) -> str:
        """The user of the keyring's entry."""
        return f"{self.profile} probe"

    async def key(
        self,
        environ: Mapping[str, str] | None = None,
        *,
        keyring_limit: float = keyring_store.LIMIT,
    ) -> Secret:
        """The key from the first source that has one. Raises TokenError."""
        found = self.given
        if found is None and self.settings.key_command is not None:
            found = await token_from_command(self.settings.key_command, _without_token(environ))
        if found is None:
            found = await self._from_keyring(keyring_limit)
        remember(found)
        return found

    async def _from_keyring(self, limit: float) -> Secret:
        try:
            found = await read_secret(self.keyring_name, limit=limit)
        except KeyringUnavailableError as error:
            problem = str(error)
        else:
            text = found.get_secret_value().strip() if found else ""
            if text:
                return Token(text)
            problem = f"the keyring has no entry {self.keyring_name}"
        raise TokenError(
            f"there is no key for probes: {PROBE_KEY_VARIABLE} is not set, the profile's probe "
            f"table has no key_command, and {problem}"
        )


def _without_token(environ: Mapping[str, str] | None) -> dict[str, str]:
    """What the command inherits: everything but the management token."""
    given = os.environ if environ is None else environ
    return {name: value for name, value in given.items() if name != TOKEN_VARIABLE}
