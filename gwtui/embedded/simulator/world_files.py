"""The data files of the simulated world, ``gwtui/embedded/world``.

Their comments say what each field means. A field that a table leaves out has a default where it is
read. Ages are days before the world's moment, and people are named by their handle.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parent.parent / "world"


def entries(kind: str) -> list[dict[str, Any]]:
    """The tables of a kind, such as ``key``, in the order of its file."""
    found: list[dict[str, Any]] = _read(f"{kind}s")[kind]
    return found


def groups() -> Mapping[str, list[str]]:
    """Names of parameters by the name of the group that stands for them in a list."""
    found: Mapping[str, list[str]] = _read("models")["groups"]
    return found


@cache
def _read(name: str) -> Mapping[str, Any]:
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))
