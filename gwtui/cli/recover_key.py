"""``gwtui recover-key``: print a new key whose value was never acknowledged.

Values of new keys lie sealed on this machine, and only the token of their profile opens them: such
a token is neither replaced nor removed while one waits, unless a person says so.
"""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from gwtui.cli import exits
from gwtui.cli.output import OutputLostError, data_on_stdout, narrate
from gwtui.cli.target import NoTargetError, open_target
from gwtui.client.connection import Connection
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.known_secrets import Secret
from gwtui.domain.safe_text import safe_text
from gwtui.domain.times import utc
from gwtui.embedded.running_demo import BASE_URL, lasting_secret
from gwtui.local.paths import Paths, ensure_private
from gwtui.local.profiles import Profile
from gwtui.local.sealed_keys import DIRECTORY, SealedKey, SealedKeys, sealed_keys
from gwtui.resources.keys.sealed import unopened_keys_text

_DISCARD = "--discard-new-keys"
_LONGEST = 4096


class NewKeysWaitError(Exception):
    """Values of new keys would be lost; the message names the keys and the way out."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which key, ``--acknowledge`` and ``--demo``."""
    parser.add_argument(
        "key", nargs="?", metavar="KEY", help="its name, or how its hash begins, where several wait"
    )
    parser.add_argument(
        "--acknowledge", action="store_true", help="wipe the sealed value once it is printed"
    )
    parser.add_argument("--demo", action="store_true", help="a key of the demo")


def run(arguments: argparse.Namespace) -> int:
    """Print the value alone on stdout, what it is on stderr; returns an exit code."""
    paths = Paths.of_user()
    try:
        connection = (
            _demo(paths) if arguments.demo else open_target(arguments, paths, may_ask=True)[1]
        )
    except NoTargetError as error:
        narrate(str(error))
        return error.code
    sealed = sealed_keys(paths.state, connection, SYSTEM_CLOCK.now)
    sealed.sweep()
    found = sealed.find(shown_elsewhere=True)
    keys = [key for key in found.keys if _is_meant(key, arguments.key)]
    if len(keys) == 1:
        return _print(keys[0], sealed, acknowledge=arguments.acknowledge)
    if keys:
        _list(keys)
        return exits.USAGE
    narrate(
        "no such key waits to be acknowledged" if found.keys else "no key waits to be acknowledged"
    )
    for line in unopened_keys_text(found):
        narrate(line)
    return exits.FAILED


def _demo(paths: Paths) -> Connection:
    secret = lasting_secret(ensure_private(paths.data / "demo"))
    return Connection(BASE_URL, lasting_secret=secret, label="demo")


def _is_meant(key: SealedKey, text: str | None) -> bool:
    return text is None or text == key.name or key.label.key_hash.startswith(text)


def _list(keys: Sequence[SealedKey]) -> None:
    narrate("several keys wait to be acknowledged, name one by its name or its hash:")
    for key in keys:
        narrate(f"  {_described(key)}")


def _described(key: SealedKey) -> str:
    return f"“{key.name}”, hash {key.label.key_hash}, made {utc(key.made_at, seconds=True)}"


def _print(key: SealedKey, sealed: SealedKeys, *, acknowledge: bool) -> int:
    narrate(_described(key))
    try:
        print_value(key.value)
    except OutputLostError as error:
        narrate(f"{error}, nothing was wiped")
        return exits.FAILED
    if not acknowledge:
        until = utc(key.label.until)
        narrate(f"it stays sealed until {until}; run this with --acknowledge once it is stored")
        return exits.OK
    try:
        sealed.wipe(key.id)
    except OSError as error:
        narrate(f"the sealed value could not be wiped: {error.strerror}")
        return exits.FAILED
    narrate("its sealed value was wiped")
    return exits.OK


def add_discard_option(parser: argparse.ArgumentParser) -> None:
    """The word of a person that such values may be lost."""
    parser.add_argument(
        _DISCARD, action="store_true", help="even where a new key waits that only it opens"
    )


def refuse_to_lock_out(former: Secret | None, profile: Profile, state: Path) -> None:
    """Raise NewKeysWaitError where values are sealed under the token that is about to go."""
    if former is None:
        return
    sealed = SealedKeys(state / DIRECTORY, profile.base_url, former, SYSTEM_CLOCK.now)
    names = [key.name or key.label.key_hash for key in sealed.find().keys]
    if names:
        raise NewKeysWaitError(
            f"only the present key of profile {profile.name} opens what waits for you to store it "
            f"(new: {', '.join(names)}): run gwtui --profile {profile.name} first, "
            f"or give {_DISCARD}"
        )


def print_value(value: Secret) -> None:
    """It has left this program when this returns, for a disk where it goes to a file.

    Raises OutputLostError.
    """
    text = value.get_secret_value()
    with data_on_stdout():
        # On a terminal the value of a hostile gateway could do more than be read.
        print(safe_text(text, _LONGEST) if sys.stdout.isatty() else text, flush=True)
        _sync()


def _sync() -> None:
    """Raises OSError where a file did not reach its disk."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return  # not a file of the system
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.fsync(descriptor)
