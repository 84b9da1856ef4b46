"""The resources of the command line, and which of them have verbs of their own."""

from __future__ import annotations

from collections.abc import Mapping

from gwtui.resources.registry import ENTRIES, RegistryEntry

RESOURCES: Mapping[str, RegistryEntry] = {entry.id: entry for entry in ENTRIES if entry.help}
"""What can be read and changed without the dashboard."""

CHANGES: Mapping[str, str] = {
    "keys": "gwtui.cli.changes.keys:CHANGES",
    "workspaces": "gwtui.cli.changes.workspaces:CHANGES",
    "budgets": "gwtui.cli.changes.workspaces:BUDGETS",
    "members": "gwtui.cli.changes.workspaces:MEMBERS",
    "guardrails": "gwtui.cli.changes.guardrails:CHANGES",
    "generation": "gwtui.cli.changes.generation:CHANGES",
    "rotations": "gwtui.cli.changes.keys:ROTATION_CHANGES",
    "recovery": "gwtui.cli.changes.keys:RECOVERY_CHANGES",
}
"""What changes a resource in a way of its own, as "module:NAME"; any other is changed as its
declaration says."""

READS: Mapping[str, str] = {
    "activity": "gwtui.cli.lists.activity:VERBS",
}
"""Verbs that read it in a way of their own, also so."""
