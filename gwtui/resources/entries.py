"""The table of all resources and screens, for the dashboard and the command line.

An entry names the module of its declaration and lists its actions. The table loads before the first
paint, so it imports only the action declarations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

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

Parent = Literal["model", "workspace", "guardrail", "key"]
"""The resource that contains the rows of a list."""
EVIDENCE = "evidence"
"""The screen with the evidence on one unresolved change."""


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """A resource or screen: its id, title, and declaration ("module:NAME").

    ``declaration`` names a ResourceSpec, ``screen`` a custom screen class.

    In the dashboard:
    - ``tab``: it has a tab; otherwise it is reached by its name, its ``key`` and links.
    - ``place``: False if only the command line has it.
    - ``parent``: the resource whose rows open it; it lists the items of one parent.
    - ``whole``: the screen that lists the items of all parents, if there is one.
    - ``aliases``: further names for it in a path.

    On the command line, if it has a ``help``:
    - ``of``: the parent that the user names for a list; with ``any_of``, it may be omitted.
    - ``single``: there is exactly one object.
    - ``brief``: lists omit the fields that need a request for each row.
    - ``by_id``: objects are read by id and never listed.
    - ``named``: names are cached for shell completion.
    - ``reads``, ``changes``: "module:NAME" of its special verbs for reading, and of its verbs for
      changes if the declaration is not sufficient.
    """

    id: str
    title: str
    declaration: str = ""
    screen: str = ""
    tab: bool = False
    place: bool = True
    parent: str = ""
    whole: str = ""
    key: str = ""
    aliases: tuple[str, ...] = ()
    help: str = ""
    of: Parent | None = None
    any_of: bool = False
    single: bool = False
    brief: bool = False
    by_id: bool = False
    named: bool = False
    reads: str = ""
    changes: str = ""
    actions: tuple[Action, ...] = ()
    """The actions, in the order in which the screen offers them."""


_RESOURCES, _SCREENS = "gwtui.resources", "gwtui.ui.screens"
_READS, _CHANGES = "gwtui.cli.lists", "gwtui.cli.changes"


def _assign(resource: str, holders: str) -> Action:
    return scoped_action(
        f"{resource}.assign",
        "Assign guardrail",
        f"Assign a guardrail to the selected or marked {holders}, replacing any current one",
        "A",
        mutates=True,
        target=True,
        marked="all",
    )


ENTRIES: tuple[RegistryEntry, ...] = (
    RegistryEntry(
        "credits",
        "Credits",
        f"{_RESOURCES}.credits:CREDITS",
        f"{_SCREENS}.credits:CreditsScreen",
        tab=True,
        help="the balance of the account",
        single=True,
        actions=(
            scoped_action(
                "credits.window",
                "Period",
                "Rank keys by spending today, this week or this month (UTC)",
                "at",
                footer=True,
            ),
        ),
    ),
    RegistryEntry(
        "keys",
        "Keys",
        f"{_RESOURCES}.keys.resource:KEYS",
        tab=True,
        help="API keys",
        changes=f"{_CHANGES}.keys:CHANGES",
        named=True,
        actions=(
            create_action("keys", "New key", "Create an API key; its value is shown once"),
            replace(
                edit_action(
                    "keys",
                    "Edit the selected key, or the limit, reset and workspace of marked keys",
                ),
                keywords="change update modify rename limit quota reset move",
            ),
            switch_action("keys", "Disable or enable the selected or marked keys"),
            show_action(
                "keys.guardrail",
                "Guardrail",
                "Go to the guardrail of the selected key",
                "R",
            ),
            _assign("keys", "keys"),
            scoped_action(
                "keys.rotate",
                "Rotate",
                "Create a successor with the same limits and guardrail; later steps disable and "
                "delete the selected key, each after you confirm it",
                "N",
                mutates=True,
                target=True,
                keywords="renew replace exchange",
            ),
            try_action(
                "keys", "Send a request to a model with the selected key; you paste its value"
            ),
            delete_action("keys", "Delete the selected or marked keys for good"),
            show_action(
                "keys.activity",
                "Activity",
                "Usage of the selected key in the last 30 full days",
                "a",
                keywords="usage spending requests",
            ),
        ),
    ),
    RegistryEntry(
        "models",
        "Models",
        f"{_RESOURCES}.models.resource:MODELS",
        tab=True,
        help="models of the catalog",
        named=True,
        actions=(
            scoped_action(
                "models.watch",
                "Watch",
                "Add the selected model to the board, or remove it",
                "W",
                target=True,
                keywords="record monitor board",
            ),
            show_action(
                "models.guardrails",
                "Guardrails",
                "Effect of each guardrail on this model, blocking ones first",
                "R",
            ),
            scoped_action(
                "models.all-endpoints",
                "All endpoints",
                "The endpoints of all models in one list, the cheapest first",
                "E",
                footer=True,
                keywords="find cheapest providers",
            ),
            try_action("models", "Send a request to the selected model"),
        ),
    ),
    RegistryEntry(
        "endpoints",
        "Endpoints",
        f"{_RESOURCES}.models.endpoints:ENDPOINTS",
        parent="models",
        whole="all-endpoints",
        aliases=("ep",),
        help="endpoints of a model",
        of="model",
        actions=(try_action("endpoints", "Send a request to the selected endpoint only"),),
    ),
    RegistryEntry(
        "all-endpoints",
        "All endpoints",
        f"{_RESOURCES}.models.endpoints:EVERY_ENDPOINT",
        help="endpoints of all models (one request per model)",
        actions=(
            show_action(
                "all-endpoints.model",
                "Its model",
                "The endpoints of the selected row's model, with their last 24 hours",
                "o",
                footer=True,
            ),
            try_action("all-endpoints", "Send a request to the selected endpoint only"),
        ),
    ),
    RegistryEntry(
        "user-models",
        "Models of this key",
        f"{_RESOURCES}.models.resource:USER_MODELS",
        help="models available to the current key",
    ),
    RegistryEntry(
        "workspaces",
        "Workspaces",
        f"{_RESOURCES}.workspaces:WORKSPACES",
        tab=True,
        aliases=("ws", "spaces"),
        help="workspaces",
        changes=f"{_CHANGES}.workspaces:CHANGES",
        named=True,
        actions=(
            create_action("workspaces", "New workspace", "Create a workspace"),
            edit_action(
                "workspaces",
                "Edit the selected workspace, or the common fields of marked ones",
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
                "Show the keys of the selected workspace; all lists stay limited to it",
                "K",
                footer=True,
            ),
            show_action(
                "workspaces.guardrails",
                "Guardrails",
                "Show its guardrails; all lists stay limited to the workspace",
                "R",
            ),
            show_action(
                "workspaces.byok",
                "BYOK",
                "Show its BYOK credentials; all lists stay limited to the workspace",
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
    ),
    RegistryEntry(
        "budgets",
        "Budgets",
        f"{_RESOURCES}.budgets:BUDGETS",
        place=False,
        help="budgets of a workspace",
        changes=f"{_CHANGES}.workspaces:BUDGETS",
        of="workspace",
    ),
    RegistryEntry(
        "members",
        "Members",
        f"{_RESOURCES}.members:MEMBERS",
        parent="workspaces",
        help="members of a workspace",
        changes=f"{_CHANGES}.workspaces:MEMBERS",
        of="workspace",
        actions=(
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
            _assign("members", "members"),
        ),
    ),
    RegistryEntry(
        "organization",
        "People",
        f"{_RESOURCES}.organization:ORGANIZATION",
        aliases=("org", "people"),
        help="people in the organization",
        named=True,
        actions=(
            scoped_action(
                "organization.edit",
                "Settings",
                "Change settings of the whole organization",
                "e",
                mutates=True,
                footer=True,
            ),
            _assign("organization", "people"),
            show_action(
                "organization.activity",
                "Activity",
                "Usage of the keys of the selected person in the last 30 full days",
                "a",
            ),
        ),
    ),
    RegistryEntry(
        "settings",
        "Settings",
        f"{_RESOURCES}.organization:SETTINGS",
        place=False,
        help="the settings of the organization",
        single=True,
    ),
    RegistryEntry(
        "model-guardrails",
        "Guardrails on a model",
        f"{_RESOURCES}.guardrails.effect:MODEL_GUARDRAILS",
        parent="models",
        help="guardrails, with the endpoints of a model that each allows",
        of="model",
        actions=(
            show_action(
                "model-guardrails.go", "Guardrail", "Go to the selected guardrail", "R", footer=True
            ),
        ),
    ),
    RegistryEntry(
        "assignments",
        "Assignments",
        f"{_RESOURCES}.assignments:ASSIGNMENTS",
        help="guardrail assignments of keys and members",
        of="guardrail",
        any_of=True,
        actions=(
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
    ),
    RegistryEntry(
        "guardrails",
        "Guardrails",
        f"{_RESOURCES}.guardrails.resource:GUARDRAILS",
        tab=True,
        aliases=("gr", "guards"),
        help="guardrails",
        changes=f"{_CHANGES}.workspaces:GUARDRAIL_CHANGES",
        named=True,
        actions=(
            create_action(
                "guardrails",
                "New guardrail",
                "Create a guardrail; it enforces nothing until it is assigned",
            ),
            replace(
                on_selected(
                    "guardrails.edit", "Edit", "Change the rules of the selected guardrail", "e"
                ),
                keywords="change update modify rename budget limit",
            ),
            on_selected(
                "guardrails.assign_keys",
                "Assign to keys",
                "Assign the selected guardrail to keys, replacing any current one",
                "A",
            ),
            scoped_action(
                "guardrails.assign_members",
                "Assign to members",
                "Assign the selected guardrail to members, replacing any current one",
                "M",
                mutates=True,
                target=True,
            ),
            show_action(
                "guardrails.assigned",
                "Assignments",
                "The keys and members that the selected guardrail is assigned to",
                "m",
                footer=True,
            ),
            show_action(
                "guardrails.remaining",
                "Allowed endpoints",
                "Endpoints of each model that the selected guardrail allows",
                "E",
                footer=True,
            ),
            try_action(
                "guardrails", "Send a request to a model, and see what the guardrail does to it"
            ),
            replace(
                delete_action("guardrails", "Delete the selected or marked guardrails for good"),
                keywords="remove",
            ),
        ),
    ),
    RegistryEntry(
        "byok",
        "BYOK",
        f"{_RESOURCES}.byok:BYOK",
        tab=True,
        aliases=("credentials",),
        help="provider credentials (BYOK)",
        named=True,
        actions=(
            create_action("byok", "New credential", "Store a key for requests to a provider"),
            edit_action(
                "byok", "Edit the selected credential, or the common fields of marked ones"
            ),
            on_selected(
                "byok.replace_key",
                "Replace key",
                "Replace the provider key of the selected credential; the old one is erased",
                "N",
            ),
            switch_action(
                "byok",
                "Exclude the selected or marked credentials from routing, or include them again",
            ),
            try_action("byok", "Send a request to the provider of the selected credential only"),
            delete_action("byok", "Delete the selected or marked credentials and erase their keys"),
        ),
    ),
    RegistryEntry(
        "activity",
        "Activity",
        f"{_RESOURCES}.activity:ACTIVITY_DAYS",
        f"{_SCREENS}.activity:ActivityScreen",
        tab=True,
        help="usage by day, model and provider",
        reads=f"{_READS}.activity:VERBS",
        of="key",
        any_of=True,
        actions=(
            scoped_action(
                "activity.group",
                "Group",
                "Rank by model, provider, workspace, key or user: each press takes the next",
                "l",
                footer=True,
            ),
            scoped_action("activity.keys", "By key", "Rank by key", "K", keywords="who spent most"),
            scoped_action(
                "activity.days",
                "Days",
                "Type the days (UTC), such as yesterday, 7d or 2026-11-01 .. 2026-11-20; "
                "leave it empty for all days",
                "at",
                footer=True,
            ),
            scoped_action(
                "activity.before",
                "Previous day",
                "Select the day to the left and show that day alone; starts at the last day",
                "comma",
                footer=True,
            ),
            scoped_action("activity.after", "Next day", "Select the day to the right", "full_stop"),
            scoped_action(
                "activity.measure",
                "Metric",
                "Draw and rank by spend, BYOK cost, requests or tokens: each press takes the next",
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
    ),
    RegistryEntry(
        "providers",
        "Providers",
        f"{_RESOURCES}.models.resource:PROVIDERS",
        help="providers",
    ),
    RegistryEntry(
        "zdr",
        "Models with ZDR",
        f"{_RESOURCES}.models.zdr:ZDR",
        help="models with zero-data-retention endpoints",
        brief=True,
    ),
    RegistryEntry(
        "board",
        "Board",
        screen=f"{_SCREENS}.board:BoardScreen",
        key="0",
        actions=(
            scoped_action(
                "board.page",
                "Panel",
                "Show the next part: endpoints, credits and limits, changes; a terminal of "
                "160x44 or more shows all",
                "l",
                footer=True,
            ),
            scoped_action(
                "board.zoom_in",
                "Zoom",
                "A shorter span: 30 days, 7 days, 24 hours, 1 hour",
                "plus",
                "equals_sign",
                footer=True,
            ),
            scoped_action("board.zoom_out", "Zoom out", "A longer span", "minus"),
            scoped_action(
                "board.earlier",
                "Back in time",
                "Show the curves and values that were recorded a step earlier",
                "comma",
                footer=True,
            ),
            scoped_action(
                "board.later", "Forward", "Move the time cursor a step forward", "full_stop"
            ),
            scoped_action(
                "board.jump",
                "Jump",
                "Type the moment to show, such as 2026-11-20 18:00, yesterday 18:00 or 3h ago",
                "at",
                footer=True,
            ),
            scoped_action("board.live", "Live", "Show the present again", "L"),
            scoped_action(
                "board.measure",
                "Metric",
                "Draw latency, throughput or uptime of the endpoint: each press takes the next",
                "i",
                footer=True,
            ),
            scoped_action("board.order", "Order", "By model, or the worst first", "s"),
            scoped_action(
                "board.unwatch",
                "Stop watching",
                "Remove the selected model from the board; its history stays",
                "W",
                target=True,
            ),
            show_action("board.open", "Open", "Show everything known about the selected endpoint"),
            scoped_action(
                "board.changes",
                "Changes",
                "What has changed: prices, endpoints, credits, keys, budgets, guardrails",
                "c",
            ),
        ),
    ),
    RegistryEntry("changes", "Changes", f"{_RESOURCES}.changes:CHANGES"),
    RegistryEntry(
        "alerts",
        "Alerts",
        f"{_RESOURCES}.alerts:ALERTS",
        key="exclamation_mark",
        actions=(
            scoped_action(
                "alerts.acknowledge",
                "Acknowledge",
                "Acknowledge the selected or marked alerts",
                "h",
                target=True,
                marked="all",
                footer=True,
            ),
            scoped_action(
                "alerts.silence",
                "Silence",
                "Silence the selected or marked alerts for a time, or end the silence",
                "x",
                target=True,
                marked="all",
                footer=True,
                keywords="mute snooze",
            ),
            show_action(
                "alerts.go",
                "Resource",
                "Go to the resource that the selected alert is about",
                "o",
                footer=True,
            ),
            scoped_action(
                "alerts.rules", "Rules", "Show and edit the alert rules", "e", footer=True
            ),
            scoped_action("alerts.history", "History", "Past alert events", "H", footer=True),
        ),
    ),
    RegistryEntry(
        "alert-rules",
        "Alert rules",
        f"{_RESOURCES}.alerts:ALERT_RULES",
        actions=(
            scoped_action(
                "alert-rules.create",
                "New",
                "Make a rule",
                "n",
                footer=True,
                keywords="create add alert",
            ),
            scoped_action(
                "alert-rules.edit",
                "Edit",
                "Edit the selected rule, with a preview of the alerts it would have raised",
                "e",
                target=True,
                footer=True,
            ),
            scoped_action(
                "alert-rules.toggle",
                "Enable/disable",
                "Switch the selected rule on or off",
                "x",
                target=True,
                footer=True,
                keywords="disable enable deactivate activate",
            ),
            scoped_action(
                "alert-rules.delete",
                "Delete",
                "Delete the selected rule; a built-in rule returns to its defaults",
                "D",
                "delete",
                target=True,
                keywords="remove",
            ),
        ),
    ),
    RegistryEntry(
        "alert-history",
        "Alert events",
        f"{_RESOURCES}.alerts:ALERT_HISTORY",
        actions=(
            show_action(
                "alert-history.go",
                "Resource",
                "Go to the resource that the selected event is about",
                "o",
                footer=True,
            ),
        ),
    ),
    RegistryEntry(
        "findings",
        "Findings",
        f"{_RESOURCES}.findings:FINDINGS",
        key="F",
        actions=(
            on_selected(
                "findings.fix",
                "Fix",
                "Plan the fix of the selected finding; nothing is sent before you confirm",
                "f",
            ),
            show_action(
                "findings.go",
                "Resource",
                "Go to the resource that the selected finding is about",
                "o",
                footer=True,
            ),
        ),
    ),
    RegistryEntry(
        "rotations",
        "Rotations",
        f"{_RESOURCES}.rotations:ROTATIONS",
        help="key rotations started from this machine",
        changes=f"{_CHANGES}.keys:ROTATION_CHANGES",
        named=True,
        actions=(
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
    ),
    RegistryEntry("doctor", "Doctor", f"{_RESOURCES}.doctor:DOCTOR"),
    RegistryEntry("audit", "Audit entries", f"{_RESOURCES}.audit:AUDIT"),
    RegistryEntry(
        "recovery",
        "Unresolved changes",
        f"{_RESOURCES}.recovery:UNRESOLVED",
        aliases=("unresolved",),
        help="unresolved changes and unacknowledged keys",
        changes=f"{_CHANGES}.keys:RECOVERY_CHANGES",
    ),
    RegistryEntry(
        EVIDENCE,
        "Evidence",
        screen=f"{_SCREENS}.recovery:RecoveryScreen",
        parent="recovery",
        actions=(
            scoped_action(
                "evidence.happened",
                "Mark as applied",
                "Record that the change was applied, with the selected resource as its result; "
                "for a new key, that its value is stored",
                "h",
                footer=True,
            ),
            scoped_action(
                "evidence.did_not",
                "Mark as not applied",
                "Record that the change was not applied",
                "X",
                footer=True,
            ),
            scoped_action(
                "evidence.recreate",
                "Create it again",
                "Delete a key whose value was never stored, and create one with the same settings",
                "n",
                mutates=True,
            ),
            scoped_action(
                "evidence.show",
                "Open",
                "Open the selected resource, or the subject of the change, "
                "without recording anything",
                "enter",
                footer=True,
            ),
        ),
    ),
    RegistryEntry(
        "generation",
        "Generation",
        f"{_RESOURCES}.generations:ONE_GENERATION",
        f"{_SCREENS}.objects:GenerationScreen",
        help="details of a generation",
        changes=f"{_CHANGES}.crud:GENERATION",
        by_id=True,
        actions=(
            scoped_action(
                "generation.lookup",
                "Type id",
                "Type the id of another generation",
                "slash",
                footer=True,
            ),
            show_action(
                "generation.content",
                "Content",
                "Prompt and response, if the workspace logs them",
                "I",
                footer=True,
            ),
            show_action("generation.model", "Model", "Go to the endpoints of its model", "o"),
        ),
    ),
    RegistryEntry(
        "key",
        "Key in use",
        f"{_RESOURCES}.keys.current:THIS_KEY",
        f"{_SCREENS}.objects:CurrentKeyScreen",
        help="the current key",
        single=True,
        actions=(
            scoped_action(
                "key.models",
                "Models",
                "Models that the gateway shows to this key",
                "E",
                footer=True,
            ),
        ),
    ),
)
