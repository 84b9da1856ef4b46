"""What the next screens need is loaded between the keys; what they need is in the list."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from textual.widget import Widget

from gwtui.ui import loading_ahead
from gwtui.ui.loading_ahead import MODULES, WRITING, load_ahead
from gwtui.ui.textual_compat.styling import read_default_styles
from shell_kit import dashboard, site


def test_every_module_exists_once() -> None:
    names = MODULES + WRITING
    assert len(set(names)) == len(names)
    assert all(map(find_spec, names))


def test_nothing_heavy_is_left_for_the_first_form_of_a_key() -> None:
    """In a process that has nothing yet: here everything is loaded."""
    code = (
        "import sys; from importlib import import_module; import gwtui.ui.app;"
        "from gwtui.ui.loading_ahead import MODULES, WRITING;"
        "{*map(import_module, MODULES + WRITING)}; before = {*sys.modules};"
        "import gwtui.ui.actions.keys, gwtui.ui.forms.form_screen, gwtui.ui.screens.palette;"
        "print(*({*sys.modules} - before))"
    )
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert asked.stdout.split() == []


def test_who_only_watches_is_spared_what_writes() -> None:
    code = (
        "import sys; from importlib import import_module; import gwtui.ui.app;"
        "from gwtui.ui.loading_ahead import MODULES, WRITING;"
        "{*map(import_module, MODULES)}; print(*(name for name in WRITING if name in sys.modules))"
    )
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert asked.stdout.split() == []


READING = ("activity", "board", "links", "lists", "models", "output", "remaining")
"""Modules of actions that change nothing and ask for nothing."""


def test_what_only_reads_loads_no_form() -> None:
    code = (
        "import sys; from importlib import import_module;"
        f"[import_module('gwtui.ui.actions.' + name) for name in {READING!r}];"
        "print(*(name for name in sys.modules if name.startswith('gwtui.ui.forms')))"
    )
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert asked.stdout.split() == []


async def test_nothing_is_loaded_while_somebody_types(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    rested = 0.0
    monkeypatch.setattr(loading_ahead, "_steps", lambda _names: [lambda: loaded.append("step")] * 3)
    monkeypatch.setattr(loading_ahead, "_widgets", lambda: [Widget])
    monkeypatch.setattr(loading_ahead, "_REST", 0.001)

    def read(kinds: Sequence[type[Widget]]) -> None:
        loaded.extend(kind.__name__ for kind in kinds)

    loading = asyncio.create_task(load_ahead(lambda: rested, read, writing=True))
    await asyncio.sleep(0.03)
    assert not loaded
    rested = 1.0
    await asyncio.wait_for(loading, 30)
    assert loaded == ["step"] * 3 + ["Widget"]


async def test_no_style_is_left_to_be_read_when_the_first_form_opens(tmp_path: Path) -> None:
    async with site() as place, dashboard(place, tmp_path) as (app, pilot):
        await load_ahead(lambda: 60.0, partial(read_default_styles, app.stylesheet), writing=True)
        known = set(app.stylesheet.source)
        for key in ("n", "escape", "ctrl+p", "escape", "slash", "escape"):
            await pilot.press(key)
            await pilot.pause()
        assert set(app.stylesheet.source) == known
