"""The value of a new key: alone on stdout, then wiped from where it was sealed."""

from __future__ import annotations

from typing import Any

from gwtui.cli import exits
from gwtui.cli.changes.telling import outcome_json
from gwtui.cli.new_value import print_value
from gwtui.cli.output import OutputLostError, narrate, print_json
from gwtui.contract.keys import CreatedKey
from gwtui.crud.plan import Applied, Plan
from gwtui.domain.times import utc
from gwtui.local.sealed_keys import SealedKeys
from gwtui.resources.keys.plans import shown_name


def hand_over(
    sealed: SealedKeys, plan: Plan[Any], made: Applied[CreatedKey], *, as_json: bool
) -> int:
    """Print the value; it counts as stored once it has left. Returns an exit code."""
    created = made.value
    if created.key is None:
        name = shown_name(created.data) if created.data is not None else "without a description"
        narrate(f"key {name} was created, but its value did not come: delete it, create another")
        return exits.INCOMPLETE
    if made.unkept:
        narrate(f"its value could not be sealed on this machine: {made.unkept}")
    until = sealed.until(plan.id)
    try:
        if as_json:
            value = created.key.get_secret_value()
            print_json({**outcome_json(plan, [(plan, made)]), "key": value})
        else:
            print_value(created.key)
    except OutputLostError as error:
        narrate(str(error))
        if until is None:
            narrate("its value is lost: delete this key and create another")
        else:
            narrate(f"its value stays sealed until {utc(until)}: gwtui recover-key prints it")
        return exits.INCOMPLETE
    try:
        sealed.wipe(plan.id)
    except OSError as error:
        narrate(f"the sealed copy of its value could not be wiped: {error.strerror}")
    return exits.OK
