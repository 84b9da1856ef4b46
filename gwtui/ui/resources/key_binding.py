"""Which guardrails bind a key: its own and the default one of its workspace."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gwtui.ui.resources import cells
from gwtui.ui.resources.guardrail_row import READING, display_name
from gwtui.ui.resources.spec import Cell, DetailRow
from gwtui.watch.feeds.guardrails import Bindings
from gwtui.watch.feeds.keys import KeyBinding

_NONE = Cell("none", "muted")


def binding_of(key_hash: str | None, workspace_id: str | None, bindings: Bindings) -> KeyBinding:
    """The guardrails on a key, from a reading of the whole account."""
    rows = bindings.guardrails or {}
    own_id = bindings.by_key().get(key_hash or "")
    return KeyBinding(
        own_id,
        rows.get(own_id or ""),
        bindings.default_of(workspace_id),
        known=bindings.keys is not None,
    )


def own_name(binding: KeyBinding) -> str | None:
    """What the key's own guardrail is called; None when it has none or it is not known."""
    return binding.own_id if binding.own is None else display_name(binding.own)


def own_cell(binding: KeyBinding | None) -> Cell:
    """The key's own guardrail."""
    if binding is None:
        return READING
    if not binding.known:
        return cells.NOTHING
    return _NONE if binding.own_id is None else cells.text(own_name(binding))


def binding_rows(binding: KeyBinding | None, _now: datetime) -> Sequence[DetailRow]:
    """The lines of the detail pane."""
    rows = [DetailRow("assigned", own_cell(binding))]
    if binding is None:
        return rows
    default = binding.default
    if default is not None and default.made:
        note = "binds the whole workspace"
        rows.append(DetailRow("default", cells.text(display_name(default)), note))
    elif default is not None:
        rows.append(DetailRow("default", Cell("not made yet", "muted")))
    if binding.target is not None:
        rows.append(cells.hint("R goes to it"))
    return rows
