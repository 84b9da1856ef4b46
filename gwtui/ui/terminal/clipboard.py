"""Clipboard over SSH: tmux, then the terminal (OSC 52), then a private file.

Only a file can be confirmed, so the result names the route that was used. Textual's own
``copy_to_clipboard`` keeps the text in memory, and does not report a text that is dropped.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from textual.app import App

from gwtui.local import private_file
from gwtui.local.paths import Paths
from gwtui.local.private_file import ensure_private
from gwtui.local.terminal import copy_route
from gwtui.ui.terminal.textual_private import driver_of

Route = Literal["tmux", "terminal", "file", "none"]

OSC52_LIMIT = 74_994
"""Maximum number of encoded bytes; terminals drop or cut longer sequences."""
_TOO_LARGE = (
    f"Too large for the terminal's clipboard (OSC 52 takes {OSC52_LIMIT // 4 * 3:,} bytes)."
)
TMUX_BUFFER = "gwtui"
_COPIED_BY_TMUX = "Copied by tmux: paste with its prefix and ], or with your terminal's own paste."
_TMUX_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Copied:
    """The route by which a text was copied, with a message for the user."""

    route: Route
    sentence: str
    path: Path | None = None

    @property
    def ok(self) -> bool:
        """Whether the text was copied to a clipboard or a file."""
        return self.route != "none"


async def copy_text(
    app: App[Any],
    text: str,
    *,
    secret: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> Copied:
    """Copy by the first available route, and return the result.

    ``secret`` adds to the message where copies of the secret remain.
    """
    if copy_route(environment) == "tmux":
        if await _to_tmux(text):
            kept = f" tmux keeps it until: tmux delete-buffer -b {TMUX_BUFFER}" if secret else ""
            return Copied("tmux", _COPIED_BY_TMUX + kept)
    elif _is_terminal(app, environment):
        encoded = _encoded(text)
        if len(encoded) > OSC52_LIMIT:
            saved = await save_private(text)
            return replace(saved, sentence=f"{_TOO_LARGE} {saved.sentence}")
        _write_osc52(app, encoded)
        kept = " Your terminal's clipboard history may keep it." if secret else ""
        return Copied(
            "terminal",
            "Sent to the terminal (OSC 52). It does not confirm: if it does not paste, "
            f"{'save it to a file' if secret else 'allow clipboard access there'}.{kept}",
        )
    return await save_private(text)


async def save_private(text: str) -> Copied:
    """Write the text to a new file that only its owner can read."""
    try:
        path = await asyncio.to_thread(_write_file, text)
    except OSError as error:
        return Copied("none", f"Not copied: no file could be written ({error.strerror}).")
    return Copied("file", f"Saved to {path} (only you can read it; delete it after use).", path)


async def _to_tmux(text: str) -> bool:
    try:
        process = await asyncio.create_subprocess_exec(
            *("tmux", "load-buffer", "-b", TMUX_BUFFER, "-w", "-"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return False
    try:
        async with asyncio.timeout(_TMUX_SECONDS):
            await process.communicate(text.encode(errors="replace"))
    except TimeoutError:
        return False
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return process.returncode == 0


def _is_terminal(app: App[Any], environment: Mapping[str, str]) -> bool:
    here = not app.is_headless and driver_of(app) is not None
    return here and copy_route(environment) == "terminal"


def _write_osc52(app: App[Any], encoded: str) -> None:
    driver = driver_of(app)
    assert driver is not None  # noqa: S101 - checked by _is_terminal
    driver.write(f"\x1b]52;c;{encoded}\a")
    driver.flush()


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode(errors="replace")).decode("ascii")


def _write_file(text: str) -> Path:
    paths = Paths.of_user()
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    # The runtime directory is in memory and ends with the session, but may be missing.
    folder = paths.runtime if runtime and Path(runtime).is_dir() else paths.state
    path = ensure_private(folder) / f"copied-{secrets.token_hex(4)}.txt"
    private_file.create(path, text.encode("utf-8", errors="replace"))
    return path
