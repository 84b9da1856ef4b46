"""The gateways that the dashboard can switch to: every profile, and the demo."""

from __future__ import annotations

import os
from collections.abc import Callable, MutableMapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gwtui.domain.lookup import among
from gwtui.local.profiles import Profile, ProfileError, load_profiles
from gwtui.local.tokens import TOKEN_VARIABLE, TokenError, find_token

if TYPE_CHECKING:
    from gwtui.client.connection import Connection

DEMO = "demo"
Connect = Callable[[], "AbstractAsyncContextManager[Connection]"]
"""Opens a connection that is closed with the context."""


@dataclass(frozen=True, slots=True)
class TargetInfo:
    """The description of a gateway before it is connected, without its token."""

    name: str
    where: str
    """The address of the gateway."""
    key_from: str
    """The source of the token."""
    read_only: bool = False
    critical: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """A gateway whose token has been found.

    ``connect`` opens the connection; for the demo, it also starts the embedded gateway.
    """

    info: TargetInfo
    connect: Connect


class Targets:
    """The current profiles of the file, and the demo if ``demo`` is given.

    ``read_only`` makes every connection read-only.
    """

    def __init__(
        self,
        file: Path,
        *,
        read_only: bool = False,
        demo: Connect | None = None,
        environ: MutableMapping[str, str] | None = None,
    ) -> None:
        self._file = file
        self._read_only = read_only
        self._demo = demo
        self._environ = os.environ if environ is None else environ

    def known(self) -> tuple[TargetInfo, ...]:
        """All gateways, profiles in the order of the file. Raises ProfileError."""
        profiles = load_profiles(self._file).profiles
        targets = [self._info(profile) for profile in profiles.values()]
        if self._demo is not None and DEMO not in profiles:
            targets.append(
                TargetInfo(
                    DEMO, "embedded, offline", "made at its start", read_only=self._read_only
                )
            )
        return tuple(targets)

    def names(self) -> Sequence[str]:
        """The names of the gateways; empty if the file cannot be read."""
        try:
            return [info.name for info in self.known()]
        except ProfileError:
            return ()

    async def find(self, name: str) -> Target:
        """Find a gateway by name, with its token. Raises ProfileError or TokenError.

        A missing token is an error; the user is not prompted for it.
        """
        profiles = load_profiles(self._file).profiles
        profile = profiles.get(name)
        if profile is None and name == DEMO and self._demo is not None:
            return Target(self.known()[-1], self._demo)
        if profile is None:
            known = [info.name for info in self.known()]
            raise ProfileError(f"there is no profile {name!r}{among(name, known)}")
        if self._read_only:
            profile = replace(profile, read_only=True)
        # The token in the environment belongs to the gateway that the program started with.
        environ = {name: text for name, text in self._environ.items() if name != TOKEN_VARIABLE}
        search = await find_token(profile, environ)
        if search.token is None:
            why = "; ".join((f"there is no management key for {profile.label}", *search.notes))
            raise TokenError(f"{why}: run gwtui login --profile {profile.label}")
        connection = profile.connection(search.token, search.source)
        info = replace(self._info(profile), key_from=search.source)
        return Target(info, kept_open(connection))

    def _info(self, profile: Profile) -> TargetInfo:
        return TargetInfo(
            profile.name,
            profile.host,
            profile.key_from,
            read_only=profile.read_only or self._read_only,
            critical=profile.critical,
        )


def kept_open(connection: Connection) -> Connect:
    """Return a ``Connect`` that gives ``connection``, which is not closed with the context."""
    return lambda: nullcontext(connection)
