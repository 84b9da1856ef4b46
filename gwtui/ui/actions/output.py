"""What copying, export and screenshots share: a menu before, and a file at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from gwtui.domain.known_secrets import holds_secret
from gwtui.domain.safe_text import safe_ends
from gwtui.local.exported_file import ExportError, write
from gwtui.ui.actions.context import ActionContext, DashboardApp
from gwtui.ui.clipboard import copy_text
from gwtui.ui.screens.ask import AskScreen
from gwtui.ui.screens.menu import MenuEntry, MenuScreen
from gwtui.ui.screens.save import SaveScreen

_PATH = 160
_SECRET = "a secret that this program uses is in it"  # noqa: S105 - a sentence


async def from_menu(
    context: ActionContext,
    title: str,
    entries: Sequence[MenuEntry],
    *,
    first: str | None = None,
) -> str | None:
    """What the palette named already, else what a person takes from a menu; None for nothing."""
    if context.argument:
        return context.argument
    return await context.app.push_screen_wait(MenuScreen(title, entries, current=first))


async def to_clipboard(context: ActionContext, what: str, text: str) -> None:
    """Copy by the route that works, and say which it was; nothing that holds a known secret."""
    app = context.app
    if holds_secret(text):
        app.say(f"{what}: not copied, {_SECRET}", severity="error")
    elif not text:
        app.say(f"{what}: not copied, there is nothing in it", severity="warning")
    else:
        copied = await copy_text(context.screen.app, text)
        app.say(f"{what}: {copied.sentence}", severity="information" if copied.ok else "warning")


async def to_file(context: ActionContext, title: str, what: str, name: str, text: str) -> None:
    """Ask for a path and write the text there, or say why not; no known secret.

    A file that is there is replaced only when that is agreed to.
    """
    app = context.app
    if holds_secret(text):
        app.say(f"{what}: not written, {_SECRET}", severity="error")
        return
    start = problem = ""
    while (path := await app.push_screen_wait(SaveScreen(title, name, start, problem))) is not None:
        start, problem = str(path), ""
        there = await asyncio.to_thread(path.exists)
        if there and not await _may_replace(app, path):
            continue
        try:
            await asyncio.to_thread(write, path, text, replace=there)
        except FileExistsError:
            problem = "another file came there just now"
        except ExportError as error:
            problem = str(error)
        else:
            app.say(f"{what}: written to {safe_ends(path, _PATH)} (only you can read it)")
            return


async def _may_replace(app: DashboardApp, path: Path) -> bool:
    question = AskScreen(
        "Replace the file?",
        f"{safe_ends(path, _PATH)} is there already. What is in it is then lost.",
        safe="Keep it",
        deliberate="Replace",
    )
    return await app.push_screen_wait(question)
