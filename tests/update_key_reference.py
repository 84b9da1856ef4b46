"""Write the tables of keys in the manual from the registry of actions.

Run ``python tests/update_key_reference.py`` after an action was added or changed.
"""

from __future__ import annotations

import re
from pathlib import Path

from gwtui.crud.action import Action
from gwtui.resources.actions import place_actions
from gwtui.ui.commands import key_label, offered, registry

PAGE = Path(__file__).resolve().parent.parent / "docs" / "keys-and-screens.md"
_TABLE = re.compile(r"<!-- keys: ([\w-]+) -->\n.*?<!-- end -->", re.DOTALL)


def scopes() -> set[str]:
    """Every scope that has an action."""
    return {action.scope for action in (*registry.all_actions(), *registry.dialog_actions())}


def documented_scopes(page: str) -> list[str]:
    """The scopes that a page has a table for, in its order."""
    return _TABLE.findall(page)


def filled(page: str) -> str:
    """The page with the current tables."""
    return _TABLE.sub(lambda item: _table(item[1]), page)


def _table(scope: str) -> str:
    rows = [
        f"| {_asked_by(action)} | {action.title} | {action.help} |"
        for action in (*offered([scope]), *_of_dialogs(scope))
        # A screen without a key is opened by its path.
        if action.keys or action not in place_actions()
    ]
    table = "\n".join(["| key | action | what it does |", "| --- | --- | --- |", *rows])
    return f"<!-- keys: {scope} -->\n{table}\n<!-- end -->"


def _of_dialogs(scope: str) -> list[Action]:
    return [action for action in registry.dialog_actions() if action.scope == scope]


def _asked_by(action: Action) -> str:
    word = f"`:{action.command_words[0]}`" if action.command_words else "`Ctrl+P`"
    return ", ".join(f"`{key_label(key)}`" for key in action.keys).replace("|", r"\|") or word


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
