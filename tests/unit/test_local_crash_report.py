"""What is told of a failure: types and places, whatever the error is like."""

from __future__ import annotations

import importlib

import pytest

from gwtui.local.log import crash_report, traceback_lines

SECRET = "gw-v1-sentinel-0123456789"


def report_of(error: BaseException) -> list[str]:
    lines = traceback_lines(error)
    assert "sentinel" not in "\n".join(lines)
    return lines


def test_the_way_down_and_every_cause() -> None:
    def fail() -> None:
        try:
            {}[SECRET]
        except KeyError:
            raise ValueError(SECRET) from OSError(SECRET)

    with pytest.raises(ValueError, match="sentinel") as caught:
        fail()
    lines = report_of(caught.value)
    assert lines[0] == "ValueError"
    assert lines[-3:] == ["", "raised while handling", "OSError"]
    assert any(line.startswith("  tests/unit/test_local_crash_report.py:") for line in lines)
    assert lines[2].endswith(" in fail")


def test_suppressed_context_is_not_reported() -> None:
    error = ValueError(SECRET)
    error.__context__ = KeyError(SECRET)
    error.__suppress_context__ = True
    assert report_of(error) == ["ValueError"]


def test_groups_are_reported_in_full_and_without_cycles() -> None:
    first, second = KeyError(SECRET), OSError(SECRET)
    first.__context__, second.__context__ = second, first
    group = ExceptionGroup(SECRET, [first, ExceptionGroup(SECRET, [second, first])])
    lines = [line for line in report_of(group) if line]
    told = [line for line in lines if "which" not in line and "handling" not in line]
    assert sorted(told) == ["ExceptionGroup", "ExceptionGroup", "KeyError", "OSError"]


def test_an_endless_recursion_is_told_from_both_ends() -> None:
    def deeper() -> None:
        deeper()

    with pytest.raises(RecursionError) as caught:
        deeper()
    lines = report_of(caught.value)
    assert len(lines) < 100
    assert any("more" in line for line in lines)


def test_a_long_chain_is_cut() -> None:
    error: BaseException = ValueError(SECRET)
    for _ in range(1000):
        outer = ValueError(SECRET)
        outer.__cause__ = error
        error = outer
    assert len(report_of(error)) < 100


def test_missing_modules_are_named_and_foreign_names_are_not() -> None:
    with pytest.raises(ImportError) as missing:
        importlib.import_module("gwtui.no_such_module")
    assert report_of(missing.value)[0] == "ModuleNotFoundError (gwtui.no_such_module)"
    assert report_of(ImportError(SECRET, name=SECRET))[0] == "ImportError"
    assert report_of(NameError(SECRET, name=SECRET))[0] == "NameError"
    assert report_of(AttributeError(SECRET, name="sentinel"))[0] == "AttributeError"


def test_a_report_begins_with_a_sentence() -> None:
    assert crash_report(ValueError(SECRET)) == (
        "gwtui stopped because of an error in the program.\n\nValueError\n"
    )
