"""What can be done with API keys."""

from __future__ import annotations

from dataclasses import replace

from gwtui.crud.action import (
    Action,
    create_action,
    delete_action,
    edit_action,
    switch_action,
    try_action,
)

ACTIONS = (
    create_action("keys", "New key", "Create an API key; its value is shown once"),
    replace(
        edit_action(
            "keys", "Change fields of the selected key; limit, reset, workspace of the marked ones"
        ),
        also="change update modify rename limit quota reset move",
    ),
    switch_action("keys", "Refuse requests with the selected or marked keys, or allow them again"),
    Action(
        "keys.guardrail",
        "Guardrail",
        "Go to the guardrail that binds the selected key",
        "keys",
        ("R",),
        target=True,
        marked="cursor",
    ),
    Action(
        "keys.assign",
        "Assign guardrail",
        "Assign a guardrail to the marked keys, or the selected one; replaces the one each has",
        "keys",
        ("A",),
        mutates=True,
        target=True,
        marked="all",
    ),
    Action(
        "keys.rotate",
        "Rotate",
        "Make a successor with the same limits and guardrail, and retire the selected key later",
        "keys",
        ("N",),
        mutates=True,
        target=True,
        also="renew replace exchange",
    ),
    try_action("keys", "Send a request to a model with the selected key, and see what happens"),
    delete_action("keys", "Delete the selected or marked keys for good"),
)
