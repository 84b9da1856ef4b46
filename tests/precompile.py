"""Compiling what the workers of a run load, once: each of them would do it at the same time."""

from __future__ import annotations

import compileall
import os
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from pathlib import Path

import pytest
from _pytest.assertion import AssertionState
from _pytest.assertion import rewrite as asserts

_TESTS = Path(__file__).parent
_PROCESSES = os.cpu_count() or 1


def compile_all(config: pytest.Config) -> None:
    """Compile the program, the tests' kits and, as pytest does, the tests, unless they are.

    What cannot be compiled is told where it is loaded.
    """
    for process in [_begin(config, number) for number in range(_PROCESSES)]:
        process.join()


def _files() -> Iterator[Path]:
    for folder in (_TESTS, _TESTS.parent / "gwtui"):
        for place, _, names in os.walk(folder):
            yield from (Path(place, name) for name in names if name.endswith(".py"))


def _begin(config: pytest.Config, number: int) -> ForkProcess:
    process = get_context("fork").Process(target=_compile_part, args=(config, number))
    process.start()
    return process


def _compile_part(config: pytest.Config, number: int) -> None:
    for file in sorted(_files())[number::_PROCESSES]:
        if file.name.startswith("test_"):
            _compile_test(config, file)
        else:
            compileall.compile_file(file, quiet=2)


def _compile_test(config: pytest.Config, file: Path) -> None:
    compiled = asserts.get_cache_dir(file) / f"{file.stem}{asserts.PYC_TAIL}"
    if asserts._read_pyc(file, compiled) is not None:
        return
    compiled.parent.mkdir(exist_ok=True)
    with suppress(SyntaxError):
        found, code = asserts._rewrite_test(file, config)
        asserts._write_pyc(AssertionState(config, "rewrite"), code, found, compiled)
