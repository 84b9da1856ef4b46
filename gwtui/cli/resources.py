"""The resources of the command line, and the modules of their special verbs."""

from __future__ import annotations

from collections.abc import Mapping

from gwtui.resources.entries import ENTRIES, RegistryEntry

RESOURCES: Mapping[str, RegistryEntry] = {entry.id: entry for entry in ENTRIES if entry.help}
"""The resources with commands, by id."""

CHANGES: Mapping[str, str] = {
    "keys": "gwtui.cli.changes.keys:CHANGES",
    "workspaces": "gwtui.cli.changes.workspaces:CHANGES",
    "budgets": "gwtui.cli.changes.workspaces:BUDGETS",
    "members": "gwtui.cli.changes.workspaces:MEMBERS",
    "guardrails": "gwtui.cli.changes.guardrails:CHANGES",
    "generation": "gwtui.cli.changes.crud:GENERATION",
    "rotations": "gwtui.cli.changes.keys:ROTATION_CHANGES",
    "recovery": "gwtui.cli.changes.keys:RECOVERY_CHANGES",
}
"""Resource -> "module:NAME" of its verbs for changes, if the declaration is not sufficient."""

READS: Mapping[str, str] = {"activity": "gwtui.cli.lists.activity:VERBS"}
"""Resource -> "module:NAME" of its special verbs for reading."""
