"""Stores secrets in the keyring of this machine, with a time limit.

A keyring may be absent, locked, or wait for the user at another screen. Each call runs in its own
daemon thread and is abandoned after ``limit`` seconds, so it delays neither the event loop nor the
end of the process.

Only backends known to encrypt secrets and to leave the terminal alone are used. Others may store
secrets in plain text or prompt for a password on the screen.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import SecretStr

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SERVICE = "gwtui"
LIMIT = 3.0
"""The time limit of one call, in seconds."""
TRUSTED = frozenset(
    {
        "keyring.backends.SecretService",
        "keyring.backends.kwallet",
        "keyring.backends.libsecret",
        "keyring.backends.macOS",
        "keyring.backends.Windows",
    }
)
"""The modules of the backends that may be used."""
_NONE = "keyring.backends.fail"
_LEAST_PRIORITY = 1
_MOST_COPIES = 10

_Result = TypeVar("_Result")


class KeyringUnavailableError(Exception):
    """The keyring cannot be used; the message is the reason, without a secret."""


class NoKeyringError(KeyringUnavailableError):
    """No usable keyring is installed."""


class KeyringSilentError(KeyringUnavailableError):
    """The keyring did not respond in time. The operation may still complete."""


async def read_secret(
    user: str, *, service: str = SERVICE, limit: float = LIMIT
) -> SecretStr | None:
    """Read the secret of a user of a service; None if there is none.

    Raises KeyringUnavailableError.
    """
    return await _in_daemon_thread(partial(_read, service, user), limit)


async def store_secret(
    user: str, secret: SecretStr, *, service: str = SERVICE, limit: float = LIMIT
) -> None:
    """Store a secret, replacing an earlier one, and verify it by reading it back.

    Raises KeyringUnavailableError.
    """
    await _in_daemon_thread(partial(_store, service, user, secret), limit)


async def remove_secret(user: str, *, service: str = SERVICE, limit: float = LIMIT) -> bool:
    """Remove a secret; returns False if there was none. Raises KeyringUnavailableError."""
    return await _in_daemon_thread(partial(_remove, service, user), limit)


async def backend_name(*, limit: float = LIMIT) -> str:
    """Return the module name of the keyring backend, after at most ``limit`` seconds.

    Raises KeyringUnavailableError.
    """
    return await _in_daemon_thread(lambda: type(_backend()).__module__, limit)


def _read(service: str, user: str) -> SecretStr | None:
    text = _backend().get_password(service, user)
    return None if text is None else SecretStr(text)


def _store(service: str, user: str, secret: SecretStr) -> None:
    backend = _backend()
    backend.set_password(service, user, secret.get_secret_value())
    if backend.get_password(service, user) != secret.get_secret_value():
        raise KeyringUnavailableError("the keyring did not keep the secret")


def _remove(service: str, user: str) -> bool:
    backend = _backend()
    # Other programs may have stored several secrets under the same name.
    for removed in range(_MOST_COPIES):
        if backend.get_password(service, user) is None:
            return removed > 0
        backend.delete_password(service, user)
    raise KeyringUnavailableError("the keyring did not remove the secret")


def _backend() -> KeyringBackend:
    import keyring  # noqa: PLC0415 - finding a backend takes 100 ms and more

    chosen = keyring.get_keyring()
    # A chain of backends may include one that prompts on the terminal.
    candidates: list[KeyringBackend] = list(getattr(chosen, "backends", None) or [chosen])
    for backend in candidates:
        if type(backend).__module__ in TRUSTED and float(backend.priority) >= _LEAST_PRIORITY:
            return backend
    passed_over = {type(backend).__module__ for backend in candidates} - {_NONE}
    if passed_over:
        names = ", ".join(sorted(passed_over))
        raise NoKeyringError(f"there is no keyring that can be trusted (found {names})")
    raise NoKeyringError("there is no keyring")


def _explained(error: Exception) -> KeyringUnavailableError:
    # Only the type is shown, because the message of a backend may contain a secret.
    if isinstance(error, KeyringUnavailableError):
        return error
    name = type(error).__name__
    if name == "KeyringLocked":
        return KeyringUnavailableError("the keyring is locked")
    return KeyringUnavailableError(f"the keyring cannot be used ({name})")


async def _in_daemon_thread(work: Callable[[], _Result], limit: float) -> _Result:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[_Result] = loop.create_future()

    def deliver(setter: Callable[[Any], None], value: Any) -> None:
        if not answer.done():
            setter(value)

    def run() -> None:
        delivery: tuple[Callable[[Any], None], Any]
        try:
            delivery = (answer.set_result, work())
        except Exception as error:
            delivery = (answer.set_exception, _explained(error))
        # The loop may be closed by now; then nobody waits for the result.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(deliver, *delivery)

    threading.Thread(target=run, daemon=True, name="keyring").start()
    try:
        return await asyncio.wait_for(answer, limit)
    except TimeoutError:
        raise KeyringSilentError(f"the keyring did not respond in {limit:g} s") from None
