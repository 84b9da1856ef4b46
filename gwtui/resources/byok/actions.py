"""What can be done with BYOK provider credentials."""

from __future__ import annotations

from gwtui.crud.action import (
    create_action,
    delete_action,
    edit_action,
    on_selected,
    switch_action,
    try_action,
)

ACTIONS = (
    create_action("byok", "New credential", "Store a provider key of your own"),
    edit_action("byok", "Change fields of the selected credential, or what the marked ones share"),
    on_selected(
        "byok.rotate",
        "Rotate",
        "Replace the key of the selected credential in place; the old one is gone",
        "R",
    ),
    switch_action(
        "byok", "Leave the selected or marked credentials out of routing, or let them in"
    ),
    try_action("byok", "Send a request to the provider of the selected credential only"),
    delete_action("byok", "Delete the selected or marked credentials and wipe their keys"),
)
