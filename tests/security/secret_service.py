"""A private session bus, and what may answer on it for org.freedesktop.secrets."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

SECRETS = "org.freedesktop.secrets"
PROMPTER = "org.gnome.keyring.SystemPrompter"
PROGRAMS = ("dbus-daemon", "gnome-keyring-daemon")

# Without the directories of installed services: nothing starts here by itself.
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
    """A bus of its own; its address."""
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

    The first start in a home makes the collection, with that password.
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
        assert daemon.stdin is not None
        daemon.stdin.write(password.encode())
        daemon.stdin.close()
        with open_dbus_connection(bus) as connection:
            _wait_until(lambda: _has_owner(connection, SECRETS))
        yield
    finally:
        daemon.terminate()
        daemon.wait(10)


@contextmanager
def silent_owner(bus: str, name: str) -> Iterator[None]:
    """Somebody who has a name on the bus and never answers what is sent there."""
    with open_dbus_connection(bus) as connection:
        granted = connection.send_and_get_reply(message_bus.RequestName(name))
        assert granted.body == (1,)
        yield


def _has_owner(connection: DBusConnection, name: str) -> bool:
    answer = connection.send_and_get_reply(message_bus.NameHasOwner(name))
    return bool(answer.body[0])


def _wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
