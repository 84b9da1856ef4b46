"""The source of the program for tests that read it: each module is parsed once.

Such tests belong to one group of tests, ``READS_SOURCE``, which one worker runs.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import gwtui

ROOT = Path(__file__).parents[1]
PACKAGE = Path(gwtui.__file__).parent

READS_SOURCE = pytest.mark.xdist_group("source")


@cache
def text_of(file: Path) -> str:
    return file.read_text("utf-8")


@cache
def tree_of(file: Path) -> ast.Module:
    """The module as it is written; nobody may change it."""
    return ast.parse(text_of(file), str(file))


@cache
def files_of(folder: Path) -> tuple[Path, ...]:
    """The modules in a folder and below it."""
    return tuple(sorted(folder.rglob("*.py")))
