"""What a list of guardrails holds, and how its figures read in the list and in the detail pane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrails import ZDR_FIELDS
from gwtui.domain import money
from gwtui.domain.guardrail_effect import ZDR_XAI
from gwtui.ui.resources import cells
from gwtui.ui.resources.spec import Cell
from gwtui.watch.feeds.guardrails import GuardrailRow

ALL = Cell("all", "muted")
NONE = Cell("none", "muted")
READING = Cell("reading…", "muted")
_NAME = 60
_PERIODS = {"daily": "day", "weekly": "week", "monthly": "month"}


def display_name(row: GuardrailRow) -> str:
    """What it is called; a default one by its workspace, because its own name is an identifier."""
    if row.is_default:
        return f"{cells.text(row.workspace_name).text} default"
    return cells.text(row.guardrail.name or row.guardrail.id).text


def shown_name(row: GuardrailRow) -> str:
    """The guardrail in a sentence."""
    return f"“{display_name(row)[:_NAME]}”"


def entries_cell(row: GuardrailRow, allowed: str, ignored: str) -> Cell:
    """A pair of lists in a few cells: "all", "only 3", "all but 2", "only 3 less 1"."""
    guardrail = row.guardrail
    if allowed in guardrail.gaps or ignored in guardrail.gaps:
        return cells.NOTHING
    only: list[str] | None = getattr(guardrail, allowed)
    never: list[str] = getattr(guardrail, ignored) or []
    if only is None:
        return Cell(f"all but {len(never)}") if never else ALL
    return Cell(f"only {len(only)}" + (f" less {len(never)}" if never else ""))


def cap_cell(row: GuardrailRow) -> Cell:
    """The cap and its period: "$100.00/day"."""
    guardrail = row.guardrail
    if "limit_usd" in guardrail.gaps:
        return cells.NOTHING
    if guardrail.limit_usd is None:
        return NONE
    amount = money.usd(guardrail.limit_usd)
    interval = guardrail.reset_interval
    if not interval:
        return Cell(amount)
    return Cell(f"{amount}/{_PERIODS.get(interval) or cells.text(interval).text}")


def zdr_switches(row: GuardrailRow) -> Iterator[tuple[str, str, bool | None]]:
    """(field, vendors in words, value) of each switch that this service has."""
    guardrail = row.guardrail
    for field in ZDR_FIELDS:
        yield field, vendor_name(field, row.dialect), getattr(guardrail, field)
    if has_xai(row.dialect):
        yield ZDR_XAI, vendor_name(ZDR_XAI, row.dialect), guardrail.enforce_zdr_xai


def has_xai(dialect: Dialect) -> bool:
    """Whether the service has a switch for models of xAI."""
    return ZDR_XAI not in dialect.absent_fields.get("Guardrail", ())


def vendor_name(field: str, dialect: Dialect) -> str:
    """Whose models a switch is about."""
    if field == ZDR_XAI:
        return "xAI"
    if field == "enforce_zdr_other":
        return "all other vendors"
    return dialect.vendors[ZDR_FIELDS.index(field)]


def zdr_word(value: bool | None) -> Cell:
    """A switch in a word."""
    if value is None:
        return Cell("inherited", "muted")
    return Cell("enforced", "accent") if value else Cell("not enforced")


def zdr_cell(row: GuardrailRow) -> Cell:
    """The switches in a word: "all", "2 of 4", "off" or "inherited"."""
    switches = list(zdr_switches(row))
    if any(field in row.guardrail.gaps for field, _, _ in switches):
        return cells.NOTHING
    values = [value for _, _, value in switches]
    on = values.count(True)
    if on:
        return Cell("all" if on == len(values) else f"{on} of {len(values)}")
    return Cell("off", "muted") if False in values else Cell("inherited", "muted")


def filter_count(row: GuardrailRow) -> int | None:
    """How many content filters it has; None when that cannot be read."""
    guardrail = row.guardrail
    if {"content_filters", "content_filter_builtins"} & guardrail.gaps.keys():
        return None
    return len(guardrail.content_filters or ()) + len(guardrail.content_filter_builtins or ())


def filters_cell(row: GuardrailRow) -> Cell:
    """How many content filters it has."""
    count = filter_count(row)
    return cells.NOTHING if count is None else Cell(str(count)) if count else NONE


def count_of(rows: Sequence[object] | None) -> int | None:
    """How many there are, None when it is not known."""
    return None if rows is None else len(rows)


def binds_cell(row: GuardrailRow) -> Cell:
    """What it applies to; one that applies to nothing enforces nothing."""
    if row.is_default:
        return Cell("whole workspace") if row.made else Cell("not made yet", "muted")
    if row.bound is None:
        return READING
    keys, members = count_of(row.bound.keys), count_of(row.bound.members)
    if keys is None and members is None:
        return cells.NOTHING
    parts = [
        f"{count} {noun if count == 1 else noun + 's'}"
        for count, noun in ((keys, "key"), (members, "member"))
        if count
    ]
    if parts:
        return Cell(", ".join(parts))
    return Cell("nothing", "warn") if None not in (keys, members) else cells.NOTHING
