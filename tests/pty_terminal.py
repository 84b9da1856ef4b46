"""A program on a real pseudo-terminal, and the screen that a terminal would show."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyte

from loaded_program import GWTUI, LoadedProgram

PRIVATE_MODES = {"1049": "alternate screen", "1000": "mouse", "1003": "mouse", "2004": "paste"}


@dataclass
class PtyTerminal:
    """One program on one pty; reads happen only inside the waiting methods."""

    process: subprocess.Popen[bytes]
    master: int
    slave: int | None
    columns: int
    rows: int
    settings_before: list[object]
    raw: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self.screen = pyte.Screen(self.columns, self.rows)
        self.stream = pyte.ByteStream(self.screen)

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)

    def pump(self, seconds: float) -> bytes:
        """Read the output of the next ``seconds``, feed the screen, return the new bytes."""
        start = len(self.raw)
        end = time.monotonic() + seconds
        while (remaining_s := end - time.monotonic()) > 0:
            chunk = self.receive(min(remaining_s, 0.05))
            if chunk is None:
                continue
            if not chunk:
                break
            self.show(chunk)
        return bytes(self.raw[start:])

    def receive(self, seconds: float) -> bytes | None:
        """Return the next output within ``seconds``; None if there is none, empty at the end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return None
        try:
            return os.read(self.master, 65536)
        except OSError:
            return b""

    def show(self, chunk: bytes) -> None:
        """Feed received output to the screen, which takes milliseconds."""
        self.raw += chunk
        self.stream.feed(chunk)

    def wait_for(self, text: str, timeout: float = 30.0) -> None:
        """Wait until the screen shows ``text``; a failure includes the screen."""
        end = time.monotonic() + timeout
        while text not in self.text:
            if time.monotonic() > end:
                raise AssertionError(f"{text!r} never appeared:\n{self.text}")
            if self.process.poll() is not None:
                self.pump(0.2)
                if text in self.text:
                    return
                raise AssertionError(
                    f"exited with {self.process.returncode} before {text!r}:\n{self.text}"
                )
            self.pump(0.05)

    def wait_gone(self, text: str, timeout: float = 10.0) -> None:
        end = time.monotonic() + timeout
        while text in self.text:
            if time.monotonic() > end:
                raise AssertionError(f"{text!r} stayed:\n{self.text}")
            self.pump(0.05)

    def settle(self, quiet: float = 0.5, timeout: float = 20.0) -> None:
        """Wait until there is no output for ``quiet`` seconds and the program only waits."""
        end = time.monotonic() + timeout
        while self.pump(quiet) or self.has_work():
            if time.monotonic() > end:
                raise AssertionError("the terminal never became quiet")

    def has_work(self) -> bool:
        """Whether a thread of the program runs or waits for a processor."""
        states = []
        for stat in Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            with contextlib.suppress(OSError):
                states.append(stat.read_text().rpartition(")")[2].split()[0])
        return "R" in states

    def send(self, keys: str | bytes) -> None:
        os.write(self.master, keys.encode() if isinstance(keys, str) else keys)

    def answer(self, *dialog: tuple[str, str]) -> None:
        """Wait for each text, then type its answer."""
        for text, keys in dialog:
            self.wait_for(text, 60)
            self.send(keys)

    def resize(self, columns: int, rows: int) -> None:
        set_size(self.master, columns, rows)
        self.screen.resize(rows, columns)
        self.columns, self.rows = columns, rows
        self.process.send_signal(signal.SIGWINCH)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait_exit(self, timeout: float = 10.0) -> int:
        end = time.monotonic() + timeout
        while self.process.poll() is None:
            if time.monotonic() > end:
                raise AssertionError(f"still running after {timeout} s:\n{self.text}")
            self.pump(0.05)
        self.pump(0.2)
        return self.process.returncode

    def quit(self, keys: str = "q") -> None:
        """End the program with keys; it must succeed and leave the terminal as it was."""
        self.send(keys)
        assert self.wait_exit() == 0
        assert self.left_over_modes() == []

    def hang_up(self) -> None:
        """Close the terminal, as when an SSH connection drops."""
        if self.slave is not None:
            os.close(self.slave)
            self.slave = None
        os.close(self.master)
        self.master = -1

    def left_over_modes(self) -> list[str]:
        """Terminal modes that the program switched on and did not reset."""
        modes = []
        for mode, name in PRIVATE_MODES.items():
            on = self.raw.rfind(f"\x1b[?{mode}h".encode())
            off = self.raw.rfind(f"\x1b[?{mode}l".encode())
            if on > off:
                modes.append(f"{name} ({mode})")
        if self.raw.rfind(b"\x1b[?25l") > self.raw.rfind(b"\x1b[?25h"):
            modes.append("hidden cursor (25)")
        if self.slave is not None and termios.tcgetattr(self.slave) != self.settings_before:
            modes.append("raw line settings")
        return modes


def set_size(descriptor: int, columns: int, rows: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextlib.contextmanager
def pty_terminal(
    command: Sequence[str],
    *,
    columns: int = 80,
    rows: int = 24,
    environment: Mapping[str, str] | None = None,
    controlling: bool = True,
    fresh_process: bool = False,
) -> Iterator[PtyTerminal]:
    """Run a command on a terminal of the given size.

    The program starts with its modules loaded unless ``fresh_process`` is set. Without
    ``controlling``, the command has no controlling terminal, so no signal tells it that the
    terminal is gone.
    """
    master, slave = pty.openpty()
    set_size(slave, columns, rows)
    before = termios.tcgetattr(slave)
    variables = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        variables.pop(name, None)
    loaded = tuple(command[: len(GWTUI)]) == GWTUI and not fresh_process
    process = (LoadedProgram if loaded else subprocess.Popen)(
        list(command),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**variables, **(environment or {})},
        start_new_session=True,
        preexec_fn=_take_terminal if controlling else None,
    )
    terminal = PtyTerminal(process, master, slave, columns, rows, before)
    try:
        yield terminal
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)
        for descriptor in (terminal.master, terminal.slave):
            if descriptor is not None and descriptor >= 0:
                os.close(descriptor)
