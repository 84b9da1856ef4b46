"""Toasts stand on top of everything: what is about to be read must not lie beneath one."""

from __future__ import annotations

from typing import Any

from textual.app import App


def make_way(app: App[Any]) -> None:
    """Take away what was said before; a warning or an error stays its time."""
    for notice in [*app._notifications]:
        if notice.severity == "information":
            app._unnotify(notice)
