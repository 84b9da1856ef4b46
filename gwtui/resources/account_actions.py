"""Actions on the account's resources: title, help and keys of each, by scope.

Keys, workspaces and people, guardrails, credentials, what was spent, and writes in doubt. Nothing
but the description of an action is imported: this table is loaded before the first rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gwtui.crud.action import (
    Action,
    create_action,
    delete_action,
    edit_action,
    on_selected,
    scoped_action,
    show_action,
    switch_action,
    try_action,
)

DOUBT = "doubt"
"""The screen of one write in doubt, with what was found."""

ACTIONS: Mapping[str, tuple[Action, ...]] = {
    "keys": (
        create_action("keys", "New key", "Create an API key; its value is shown once"),
        replace(
            edit_action(
                "keys",
                "Change fields of the selected key; limit, reset, workspace of the marked ones",
            ),
            keywords="change update modify rename limit quota reset move",
        ),
        switch_action(
            "keys", "Refuse requests with the selected or marked keys, or allow them again"
        ),
        show_action(
            "keys.guardrail", "Guardrail", "Go to the guardrail that binds the selected key", "R"
        ),
        scoped_action(
            "keys.assign",
            "Assign guardrail",
            "Assign a guardrail to the marked keys, or the selected one; replaces the one each has",
            "A",
            mutates=True,
            target=True,
            marked="all",
        ),
        scoped_action(
            "keys.rotate",
            "Rotate",
            "Make a successor with the same limits and guardrail, and retire the "
            "selected key later",
            "N",
            mutates=True,
            target=True,
            keywords="renew replace exchange",
        ),
        try_action("keys", "Send a request to a model with the selected key, and see what happens"),
        delete_action("keys", "Delete the selected or marked keys for good"),
        show_action(
            "keys.activity",
            "Activity",
            "What the selected key did in the last 30 completed days",
            "a",
            keywords="usage spending requests",
        ),
    ),
    "workspaces": (
        create_action("workspaces", "New workspace", "Create a workspace"),
        edit_action(
            "workspaces", "Change fields of the selected workspace, or what the marked ones share"
        ),
        delete_action(
            "workspaces",
            "Delete the selected workspace with its budgets and guardrails",
            marked="refuse",
        ),
        try_action("workspaces", "Send a request as one of the selected workspace's keys"),
        show_action(
            "workspaces.members",
            "Members",
            "List, add and remove the members of the selected workspace",
            "m",
            footer=True,
        ),
        show_action(
            "workspaces.keys",
            "Keys",
            "Narrow the lists to the selected workspace and show its keys",
            "K",
            footer=True,
        ),
        show_action(
            "workspaces.guardrails",
            "Guardrails",
            "Narrow the lists to the selected workspace and show its guardrails",
            "R",
        ),
        show_action(
            "workspaces.byok",
            "BYOK",
            "Narrow the lists to the selected workspace and show its provider credentials",
            "B",
        ),
        scoped_action(
            "workspaces.people",
            "People",
            "Everybody in the organization, and the workspaces they are in",
            "O",
        ),
        Action(
            "budgets.edit",
            "Budgets",
            "Set, change and remove the budgets of the selected workspace",
            "workspaces",
            ("b",),
            mutates=True,
            target=True,
            footer=True,
            keywords="limit quota spending",
        ),
    ),
    "members": (
        scoped_action(
            "members.add",
            "Add members",
            "Add members of the organization to this workspace",
            "n",
            mutates=True,
            footer=True,
        ),
        scoped_action(
            "members.remove",
            "Remove",
            "Remove the marked members, or the selected one, from this workspace",
            "D",
            "delete",
            mutates=True,
            target=True,
            marked="all",
            footer=True,
            keywords="delete",
        ),
        scoped_action(
            "members.people",
            "People",
            "Everybody in the organization, and the workspaces they are in",
            "O",
            footer=True,
        ),
        scoped_action(
            "members.assign",
            "Assign guardrail",
            "Assign a guardrail to the marked members, or the selected one; "
            "replaces the one each has",
            "A",
            mutates=True,
            target=True,
            marked="all",
        ),
    ),
    "organization": (
        scoped_action(
            "organization.edit",
            "Settings",
            "Change settings of the whole organization",
            "e",
            mutates=True,
            footer=True,
        ),
        scoped_action(
            "organization.assign",
            "Assign guardrail",
            "Assign a guardrail to the marked people, or the selected one; "
            "replaces the one each has",
            "A",
            mutates=True,
            target=True,
            marked="all",
        ),
        show_action(
            "organization.activity",
            "Activity",
            "What the keys of the selected person did in the last 30 completed days",
            "a",
        ),
    ),
    "credits": (
        scoped_action(
            "credits.window",
            "Today/week/month",
            "Rank keys by usage today, this week or this month (UTC)",
            "at",
            footer=True,
        ),
    ),
    "guardrails": (
        create_action(
            "guardrails",
            "New guardrail",
            "Create a guardrail; it enforces nothing until it is assigned",
        ),
        scoped_action(
            "guardrails.edit",
            "Edit",
            "Change the rules of the selected guardrail",
            "e",
            mutates=True,
            target=True,
            footer=True,
            keywords="change update modify rename budget limit",
        ),
        on_selected(
            "guardrails.assign_keys",
            "Assign to keys",
            "Assign the selected guardrail to keys; replaces the one each has",
            "A",
        ),
        scoped_action(
            "guardrails.assign_members",
            "Assign to members",
            "Assign the selected guardrail to members; replaces the one each has",
            "M",
            mutates=True,
            target=True,
        ),
        show_action(
            "guardrails.assigned",
            "Assigned to",
            "The keys and members that the selected guardrail is assigned to",
            "m",
            footer=True,
        ),
        show_action(
            "guardrails.remaining",
            "What remains",
            "Endpoints of each model that remain under the selected guardrail",
            "E",
            footer=True,
        ),
        try_action(
            "guardrails", "Send a request to a model, and see what the guardrail does to it"
        ),
        scoped_action(
            "guardrails.delete",
            "Delete",
            "Delete the selected or marked guardrails for good",
            "D",
            "delete",
            mutates=True,
            target=True,
            marked="all",
            footer=True,
            keywords="remove",
        ),
    ),
    "assignments": (
        show_action(
            "assignments.guardrail",
            "Guardrail",
            "Go to the guardrail of the selected assignment",
            "R",
        ),
        show_action("assignments.key", "Key", "Go to the key of the selected assignment", "K"),
        scoped_action(
            "assignments.remove",
            "Unassign",
            "Take the guardrail from the marked keys and members, or the selected one",
            "D",
            "delete",
            mutates=True,
            target=True,
            marked="all",
            footer=True,
        ),
    ),
    "byok": (
        create_action("byok", "New credential", "Add a provider key"),
        edit_action(
            "byok", "Change fields of the selected credential, or what the marked ones share"
        ),
        on_selected(
            "byok.rotate",
            "Rotate",
            "Replace the key of the selected credential in place; the old one is gone",
            "N",
        ),
        switch_action(
            "byok", "Leave the selected or marked credentials out of routing, or let them in"
        ),
        try_action("byok", "Send a request to the provider of the selected credential only"),
        delete_action("byok", "Delete the selected or marked credentials and wipe their keys"),
    ),
    "activity": (
        scoped_action(
            "activity.group",
            "Group",
            "Rank by the next of model, provider, workspace, key and user",
            "l",
            footer=True,
        ),
        scoped_action("activity.keys", "By key", "Rank by key", "K", keywords="who spent most"),
        scoped_action(
            "activity.days",
            "Days",
            "Type the days (UTC): yesterday, 7d, 2026-11-20, or from .. to; nothing is all of them",
            "at",
            footer=True,
        ),
        scoped_action(
            "activity.before",
            "Day before",
            "Select the day to the left and show that day alone; starts at the last day",
            "comma",
            footer=True,
        ),
        scoped_action("activity.after", "Day after", "Select the day to the right", "full_stop"),
        scoped_action(
            "activity.measure",
            "Measure",
            "Draw and rank the next of spend, BYOK cost, requests and tokens",
            "i",
            footer=True,
        ),
        show_action(
            "activity.open",
            "Open",
            "Open the selected model, workspace, key or user",
            "enter",
            footer=True,
        ),
    ),
    "rotations": (
        on_selected(
            "rotations.next",
            "Next step",
            "Plan the next step: assign, show, disable or delete; nothing is "
            "sent before you confirm",
            "N",
        ),
        show_action("rotations.old", "Old key", "Go to the old key", "o", footer=True),
        show_action("rotations.new", "Successor", "Go to the successor", "K", footer=True),
        scoped_action(
            "rotations.forget",
            "Forget",
            "Stop following the selected rotation; both keys stay as they are",
            "D",
            "delete",
            target=True,
        ),
    ),
    "doubt": (
        scoped_action(
            "doubt.happened",
            "It happened",
            "Settle the write as applied, with the selected resource as its result",
            "h",
            footer=True,
        ),
        scoped_action(
            "doubt.did_not",
            "It did not happen",
            "Settle the write as not applied",
            "X",
            footer=True,
        ),
        scoped_action(
            "doubt.recreate",
            "Create it again",
            "Delete a key whose value was never stored, and create it again",
            "n",
            mutates=True,
        ),
        scoped_action(
            "doubt.further",
            "Look further",
            "Search an hour, then a day before and after the write",
            "minus",
            footer=True,
        ),
        scoped_action(
            "doubt.show",
            "Show it",
            "Open the selected resource, or the subject of the write, without settling anything",
            "enter",
            footer=True,
        ),
    ),
}
"""By scope; those of one scope stand in the order in which its screen offers them."""
