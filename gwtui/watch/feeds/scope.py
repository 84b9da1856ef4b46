"""What part of the account is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """What part of the account a list shows. ``workspace`` None means every workspace."""

    workspace: str | None = None
    parent: str | None = None
    """Identity of the resource that was opened to get here, such as a model id."""
