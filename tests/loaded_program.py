"""Processes of the program that start with its modules loaded.

Loading takes most of the processor time of a short process. One process per worker loads everything
once and forks for every start: the fork gets the arguments, environment, directory, streams and
terminal of its start, and runs ``main`` as usual. Tests that start a new process prove what is
loaded when: ``test_command_line``, ``test_dashboard_process``, ``test_welcome_process`` and
``test_packaging``.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import termios
from functools import cache
from pathlib import Path
from typing import Any

GWTUI = (sys.executable, "-m", "gwtui")
"""The command that starts a new process of the program."""
_MOST = 1 << 18
"""Maximum bytes of one request: arguments and environment."""
_PR_SET_CHILD_SUBREAPER = 36
"""Option of prctl(2): orphaned descendants become children of this process."""
_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "PYTHONPATH": str(Path(__file__).resolve().parent.parent),
}
"""The environment that modules see at import, whichever test comes first."""
_NOT_LOADED = frozenset({"gwtui.__main__"})


class LoadedProgram(subprocess.Popen[Any]):
    """``Popen`` of a command that begins with ``GWTUI``; ``preexec_fn`` takes the terminal."""

    def _execute_child(  # type: ignore[override]  # noqa: PLR0917 - as Popen calls it
        self,
        args: Any,
        _executable: Any,
        preexec_fn: Any,
        _close_fds: Any,
        _pass_fds: Any,
        cwd: Any,
        env: Any,
        _startupinfo: Any,
        _creationflags: Any,
        _shell: Any,
        p2cread: int,
        p2cwrite: int,
        c2pread: int,
        c2pwrite: int,
        errread: int,
        errwrite: int,
        _restore_signals: Any,
        _gid: Any,
        _gids: Any,
        _uid: Any,
        _umask: Any,
        start_new_session: bool,
        *_more: Any,
    ) -> None:
        words = [str(word) for word in args]
        assert tuple(words[: len(GWTUI)]) == GWTUI, words
        demand = {
            "words": words[len(GWTUI) :],
            "folder": str(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
            "session": start_new_session,
            "controlling": preexec_fn is not None,
        }
        ends = (p2cread, c2pwrite, errwrite)
        streams = [number if end == -1 else end for number, end in enumerate(ends)]
        control = _forking_process()
        socket.send_fds(control, [json.dumps(demand).encode()], streams)
        self.pid = int(control.recv(64))
        self._child_created = True
        self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)  # type: ignore[attr-defined]


def start(*words: str | Path, **options: Any) -> LoadedProgram:
    """Start the program with these arguments; ``options`` are those of Popen."""
    return LoadedProgram([*GWTUI, *map(str, words)], **options)


def run(
    *words: str | Path, timeout: float = 60, stdin: Any = subprocess.DEVNULL, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run the program until it ends; return its exit code and output."""
    all_options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    with start(*words, stdin=stdin, **all_options) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@cache
def _forking_process() -> socket.socket:
    """The connection to the forking process of this worker, which ends with it."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    parent, child = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for side in (parent, child):
        side.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MOST)
    with child:
        process = subprocess.Popen(
            [sys.executable, __file__, str(child.fileno())],
            pass_fds=(child.fileno(),),
            cwd="/",
            env=_ENVIRONMENT,
        )

    def end() -> None:
        parent.close()
        process.wait(10)

    atexit.register(end)
    return parent


# What follows is done by the process that forks ---------------------------------------------------


def _load() -> None:
    import gwtui  # noqa: PLC0415 - by the process that forks alone

    gc.disable()
    for module in pkgutil.walk_packages(gwtui.__path__, "gwtui."):
        if module.name not in _NOT_LOADED:
            importlib.import_module(module.name)
    gc.freeze()
    gc.enable()


def _forked(control: socket.socket) -> dict[str, Any]:
    """Fork for each request; return the request in the forked process.

    An intermediate process exits at once, so that the program becomes a child of the worker. Raises
    SystemExit when the worker is gone.
    """
    while True:
        text, streams, _, _ = socket.recv_fds(control, _MOST, 3)
        if not text:
            raise SystemExit
        read, write = os.pipe()
        between = os.fork()
        if between == 0:
            if (pid := os.fork()) != 0:
                os.write(write, str(pid).encode())
                os._exit(0)
            control.close()
            os.close(read)
            os.close(write)
            demand: dict[str, Any] = json.loads(text)
            _become(demand, streams)
            return demand
        os.waitpid(between, 0)
        control.send(os.read(read, 64))
        for descriptor in (read, write, *streams):
            os.close(descriptor)


def _become(demand: dict[str, Any], streams: list[int]) -> None:
    """Take over the session, terminal, streams, directory and environment."""
    if demand["session"]:
        os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(len(streams), max(streams) + 1)
    if demand["controlling"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(demand["folder"])
    os.environ.clear()
    os.environ.update(demand["environment"])
    sys.stdin = sys.__stdin__ = _text(0, "r", sys.stdin)
    sys.stdout = sys.__stdout__ = _text(1, "w", sys.stdout)
    sys.stderr = sys.__stderr__ = _text(2, "w", sys.stderr)
    sys.argv = ["gwtui", *demand["words"]]


def _text(descriptor: int, mode: str, like: Any) -> Any:
    """A stream as the interpreter opens it at startup."""
    with contextlib.suppress(OSError):
        return open(
            descriptor,
            mode,
            buffering=1 if os.isatty(descriptor) or descriptor == 2 else -1,
            encoding=like.encoding,
            errors=like.errors,
            closefd=False,
        )
    return None


def _serve() -> int:
    _load()
    with socket.socket(fileno=int(sys.argv[1])) as control:
        _forked(control)
    from gwtui.cli.main import main  # noqa: PLC0415 - loaded before

    return main()


if __name__ == "__main__":
    sys.exit(_serve())
