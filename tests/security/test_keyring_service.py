"""Keys in a real Secret Service: stored, read, removed; a keyring never blocks the program."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import keyring
import pytest
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from keyring.backends import SecretService
from pydantic import SecretStr

from gwtui.cli import exits
from gwtui.local import keyring_store
from gwtui.local.keyring_store import (
    KeyringUnavailableError,
    NoKeyringError,
    read_secret,
    remove_secret,
    store_secret,
)
from loaded_program import start
from login_kit import ServedGateway, served_gateway

SECRETS = "org.freedesktop.secrets"
PROGRAMS = ("dbus-daemon", "gnome-keyring-daemon")

# Without the directories of installed services, so that no service starts by itself.
_CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


def require_programs() -> None:
    """Skip where the daemons are not installed."""
    for program in PROGRAMS:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed: apt-get install dbus-daemon gnome-keyring")


@contextmanager
def session_bus(folder: Path) -> Iterator[str]:
    """A private session bus; yields its address."""
    socket = folder / "bus"
    configuration = folder / "bus.conf"
    configuration.write_text(_CONFIGURATION.format(socket=socket))
    daemon = subprocess.Popen(
        ["dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile"],
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until(socket.exists)
        yield f"unix:path={socket}"
    finally:
        daemon.terminate()
        daemon.wait(10)


@contextmanager
def gnome_keyring(bus: str, home: Path, password: str) -> Iterator[None]:
    """The real daemon; a wrong password leaves the collection locked.

    The first start in a home creates the collection with that password.
    """
    run = home / "run"
    run.mkdir(mode=0o700, exist_ok=True)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_RUNTIME_DIR": str(run),
        "DBUS_SESSION_BUS_ADDRESS": bus,
    }
    daemon = subprocess.Popen(
        ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    try:
        daemon.stdin.write(password.encode())
        daemon.stdin.close()
        with open_dbus_connection(bus) as connection:
            _wait_until(lambda: _has_owner(connection, SECRETS))
        yield
    finally:
        daemon.terminate()
        daemon.wait(10)


def _has_owner(connection: DBusConnection, name: str) -> bool:
    answer = connection.send_and_get_reply(message_bus.NameHasOwner(name))
    return bool(answer.body[0])


def _wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


# The tests ----------------------------------------------------------------------------------------


# After a failed call, the library leaves its bus connection to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

SENTINEL = SecretStr("gw-v1-SENTINEL-kept-\u00fc")

OPERATIONS: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
    "get": lambda: read_secret("work"),
    "set": lambda: store_secret("work", SENTINEL),
    "delete": lambda: remove_secret("work"),
}


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    require_programs()
    with session_bus(tmp_path_factory.mktemp("bus")) as address:
        yield address
    # Pending calls end with the bus.
    for thread in threading.enumerate():
        if thread.name == "keyring":
            thread.join(10)
    gc.collect()


@pytest.fixture
def on_bus(bus: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let this process and its children look for the keyring on the private bus."""
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", bus)
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND")
    monkeypatch.setattr(keyring, "get_keyring", SecretService.Keyring)
    return bus


@pytest.fixture(scope="module")
def gateway() -> Iterator[ServedGateway]:
    with served_gateway() as served:
        yield served


def run(*words: str, stdin: str = "") -> tuple[int, str]:
    """Run a command; return its exit code and output."""
    pipe = subprocess.PIPE
    process = start(*words, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    out, err = process.communicate(stdin, timeout=30)
    return process.returncode, out + err


async def outcome(operation: Coroutine[Any, Any, object]) -> tuple[BaseException | None, float]:
    started = time.monotonic()
    try:
        await operation
    except KeyringUnavailableError as error:
        return error, time.monotonic() - started
    return None, time.monotonic() - started


# The real service


async def test_a_secret_is_stored_replaced_and_removed(on_bus: str, tmp_path: Path) -> None:
    with gnome_keyring(on_bus, tmp_path, "right"):
        assert await read_secret("work") is None
        assert not await remove_secret("work")
        for secret in (SecretStr("earlier"), SENTINEL):
            await store_secret("work", secret)
        result = await read_secret("work")
        assert result.get_secret_value() == SENTINEL.get_secret_value()
        assert await read_secret("lab") is None
        assert await remove_secret("work")
        assert await read_secret("work") is None


def test_login_whoami_and_logout_use_the_keyring_across_a_restart(
    on_bus: str, gateway: ServedGateway, private_home: Path
) -> None:
    options = ("--profile", "work", "--base-url", gateway.base_url)
    all_output = ""
    with gnome_keyring(on_bus, private_home, "right"):
        code, output = run("login", *options, stdin=gateway.management)
        assert code == exits.OK, output
        all_output += output
    stored = b"".join(item.read_bytes() for item in private_home.rglob("*") if item.is_file())
    assert b"GnomeKeyring" in stored
    assert gateway.management.encode() not in stored
    with gnome_keyring(on_bus, private_home, "right"):
        code, output = run("whoami")
        assert code == exits.OK, output
        assert "keyring" in output
        all_output += output
        code, output = run("logout")
        assert code == exits.OK, output
        all_output += output
        code, output = run("whoami")
        assert code == exits.FAILED
        all_output += output
        assert "the keyring has no management key for profile work" in output
    assert gateway.management not in all_output


# Services that do not help


@pytest.mark.parametrize("address", ["unix:path=/no/such/bus", "nonsense", None])
async def test_a_missing_bus_is_reported_within_the_limit(
    address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if address is None:
        monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    else:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    monkeypatch.setattr(keyring, "get_keyring", SecretService.Keyring)
    for operation in OPERATIONS.values():
        error, seconds = await outcome(operation())
        assert isinstance(error, KeyringUnavailableError)
        assert seconds < keyring_store.LIMIT


async def test_a_locked_collection_is_reported(on_bus: str, tmp_path: Path) -> None:
    with gnome_keyring(on_bus, tmp_path, "right"):
        await store_secret("work", SENTINEL)
    with gnome_keyring(on_bus, tmp_path, "wrong"):
        for operation in OPERATIONS.values():
            error, seconds = await outcome(operation())
            assert str(error) == "the keyring is locked"
            assert seconds < keyring_store.LIMIT
    with gnome_keyring(on_bus, tmp_path, "right"):
        assert await remove_secret("work")


# Backends that must not be used


async def test_untrusted_keyring_backends_are_never_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "called"
    (tmp_path / "asking_backend.py").write_text(
        "import pathlib\n"
        "from keyring.backend import KeyringBackend\n"
        "class Asking(KeyringBackend):\n"
        "    priority = 9\n"
        "    def _ask(self, *_):\n"
        f"        pathlib.Path({str(trace)!r}).write_text('called')\n"
        "    get_password = set_password = delete_password = _ask\n"
    )
    # The library chooses a backend again, as at the start of a process.
    monkeypatch.setattr(keyring.core, "_keyring_backend", None)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "asking_backend.Asking")
    for operation in OPERATIONS.values():
        error, _ = await outcome(operation())
        assert isinstance(error, NoKeyringError)
        assert str(error) == "there is no keyring that can be trusted (found asking_backend)"
    assert not trace.exists()
