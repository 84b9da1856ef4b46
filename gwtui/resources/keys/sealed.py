"""Values of new keys sealed on this machine, and what their presence proves of a creation."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from gwtui.contract.keys import CreatedKey
from gwtui.crud.executor import WriteLog
from gwtui.crud.plan import Plan
from gwtui.local.sealed_keys import SealedKeys, SealedKeysFound

FOUND = "the key was made: its sealed value lies on this machine"
"""What the journal says of a creation whose outcome it did not learn."""


def with_sealing(plan: Plan[CreatedKey], sealed: SealedKeys) -> Plan[CreatedKey]:
    """The plan of a creation that seals the new value before the journal says applied.

    The sealed value is filed under the plan's id.
    """

    def keep(created: CreatedKey) -> None:
        if created.key is None:
            return
        described = created.data
        wanted = plan.summary.get("name")
        name = described.name if described is not None else None
        sealed.seal(
            plan.id,
            created.key,
            name=name or (wanted if isinstance(wanted, str) else ""),
            key_hash=(described.hash if described is not None else None) or "",
            made_at=described.created_at if described is not None else None,
        )

    return replace(plan, keep=keep)


def settle_sealed_creations(write_log: WriteLog, sealed: SealedKeys) -> None:
    """Close the creations in doubt whose keys are found sealed. Blocks, never raises.

    Those that cannot be closed stay in doubt.
    """
    made = {key.id for key in sealed.find().keys}
    with contextlib.suppress(OSError):
        for intent in write_log.journal.open_intents() if made else ():
            if intent.id in made:
                write_log.resolve(intent, FOUND)


def foreign_keys_text(count: int) -> str:
    """The sentence on sealed keys of this gateway that its token does not open."""
    if count == 1:
        return "A new key of this gateway was sealed under another token."
    return f"{count} new keys of this gateway were sealed under other tokens."


def unopened_keys_text(found: SealedKeysFound) -> list[str]:
    """Sentences on the sealed keys that cannot be opened here, by reason."""
    lines = []
    if found.elsewhere:
        lines.append(f"Shown by another gwtui at this moment: {found.elsewhere}.")
    if found.foreign:
        lines.append(foreign_keys_text(found.foreign))
    if found.damaged:
        lines.append(f"Damaged: {found.damaged}.")
    if found.other_gateways:
        lines.append(f"Of other gateways: {', '.join(sorted(set(found.other_gateways)))}.")
    return lines
