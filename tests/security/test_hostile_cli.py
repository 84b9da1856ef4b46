"""What commands print of hostile texts: lines for people without control characters, ASCII JSON."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hostile_gateway import NOW
from hostile_sinks import dangerous
from hostile_strings import CORPUS, SMALL

import gwtui.cli
from gwtui.cli.check import Finding, Severity, one_line
from gwtui.cli.lists.show import print_detail
from gwtui.cli.output import narrate, print_json, print_table
from gwtui.cli.whoami import key_summary
from gwtui.contract.current_key import CurrentKey
from gwtui.crud.export import raw_object
from gwtui.local.crash_report import crash_report
from gwtui.resources.keys.current import THIS_KEY
from source_kit import READS_SOURCE, files_of, tree_of

PRINTERS = frozenset({"output.py", "asking.py"})
"""Modules that may print a text that they were given: they make it safe, or it is a question."""


def lines(text: str) -> list[str]:
    for line in text.split("\n"):
        assert not dangerous(line), line
    return text.splitlines()


def test_tables_and_narration_are_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(name, text, "end") for name, text in CORPUS.items()]
    print_table(rows)
    for text in CORPUS.values():
        narrate(text)
    out, err = capsys.readouterr()
    assert len(lines(out)) == len(rows)
    assert len(lines(err)) == len(rows)
    assert all(line.endswith("end") for line in lines(out))


def test_json_is_ascii_and_exact(capsys: pytest.CaptureFixture[str]) -> None:
    # The client lets no half of a character in, and JSON would join two of them.
    texts = {name: text for name, text in SMALL.items() if "surrogate" not in name}
    del texts["unicode pair in two halves"]
    print_json({"texts": texts})
    out = capsys.readouterr().out
    assert out.isascii()
    lines(out)
    assert json.loads(out)["texts"] == texts


def test_a_finding_is_one_plain_line() -> None:
    for text in SMALL.values():
        line = one_line([Finding(Severity.WARNING, text)])
        assert not dangerous(line)


def test_what_is_said_of_the_key(capsys: pytest.CaptureFixture[str]) -> None:
    for text in SMALL.values():
        key = CurrentKey.model_validate(dict.fromkeys(CurrentKey.model_fields, text))
        print_detail(THIS_KEY, key, NOW)
        print_json(raw_object(THIS_KEY, key))
        narrate(key_summary(key))
    out, err = capsys.readouterr()
    lines(out)
    lines(err)


class DefectError(Exception):
    """Something that should not have happened."""


def _fail(text: str) -> None:
    raise DefectError(text)


def test_a_crash_report_holds_no_text_of_the_error() -> None:
    for text in SMALL.values():
        with pytest.raises(DefectError) as caught:
            _fail(text)
        lines(crash_report(caught.value))


def printed(tree: ast.Module) -> list[ast.expr]:
    return [
        argument
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        for argument in node.args
    ]


SAFE = frozenset({"safe_text", "safe_line", "dumps", "one_line", "_help"})
"""Functions whose text is plain."""


def is_safe(node: ast.expr) -> bool:
    """A constant, a text made safe, JSON, or a name: names are data on stdout, told in review."""
    if isinstance(node, ast.JoinedStr):
        parts: list[Any] = [one.value for one in node.values if isinstance(one, ast.FormattedValue)]
        return all(is_safe(part) and not isinstance(part, ast.Name) for part in parts)
    return isinstance(node, ast.Constant | ast.Name | ast.Starred | ast.IfExp) or (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name | ast.Attribute)
        and (node.func.id if isinstance(node.func, ast.Name) else node.func.attr) in SAFE
    )


@READS_SOURCE
def test_no_command_prints_a_text_inside_another_as_it_is() -> None:
    for path in files_of(Path(gwtui.cli.__file__).parent):
        if path.name in PRINTERS:
            continue
        for node in printed(tree_of(path)):
            assert is_safe(node), f"{path.name} line {node.lineno}: {ast.unparse(node)}"
