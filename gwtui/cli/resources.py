"""The resources of the command line, and which of them have special verbs."""

from __future__ import annotations

from collections.abc import Mapping

from gwtui.resources.entries import ENTRIES, RegistryEntry

RESOURCES: Mapping[str, RegistryEntry] = {entry.id: entry for entry in ENTRIES if entry.help}
"""The resources that can be read and changed without the dashboard."""

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
"""Resource -> "module:NAME" of its verbs that change something, unless the declaration of the
resource says it all."""

READS: Mapping[str, str] = {"activity": "gwtui.cli.lists.activity:VERBS"}
"""The same for verbs that read in a special way."""
