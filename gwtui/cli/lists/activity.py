"""``gwtui activity list``: usage rows, or sums by day, model, key or other dimensions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gwtui.cli import exits
from gwtui.cli.command import Argument
from gwtui.cli.lists.command import list_command, read_scope, run_list
from gwtui.cli.lists.selection import CommandReadings
from gwtui.cli.output import narrate, print_rows
from gwtui.cli.target import reading_hub, resolve_connection, run_async
from gwtui.crud.resource import Scope
from gwtui.domain import activity
from gwtui.domain.activity import ActivitySummary, DayRange, days_between
from gwtui.domain.lookup import among
from gwtui.local.paths import Paths
from gwtui.resources.activity import (
    OTHERS,
    PARTS,
    Part,
    UsageRows,
    account_usage,
    grouped,
    key_usage,
    user_usage,
)
from gwtui.resources.registry import COMMAND_RESOURCES
from gwtui.watch.feeds.activity import (
    activity_feed,
    every_user_activity_feed,
    key_activity_feed,
)

_RESOURCE = COMMAND_RESOURCES["activity"]
_IDS: Mapping[Part, tuple[str]] = {
    "workspace": ("workspace_id",),
    "key": ("key_id",),
    "user": ("user_id",),
}
"""Identifier columns of the dimensions whose names are not unique."""
_FIGURES = ("spend", "byok", "requests", "prompt", "completion", "reasoning", "cached")
_ROWS_ONLY = ("filter", "sort")


def _run(arguments: argparse.Namespace) -> int:

    def of_days(rows: Sequence[Any], readings: CommandReadings) -> Sequence[Any]:
        if not (arguments.since or arguments.until):
            return rows
        days = _days(arguments, readings)
        return [row for row in rows if activity.day_of(row.row) in days]

    if arguments.group_by is None:
        return run_list(_RESOURCE, arguments, chosen=of_days)
    by = _parts(arguments)
    connect = resolve_connection(arguments, Paths.of_user(), may_ask=sys.stdin.isatty())

    async def work() -> int:
        async with reading_hub(connect) as hub:
            readings = CommandReadings(hub)
            scope = await read_scope(readings, _RESOURCE, arguments)
            days = _days(arguments, readings)
            whole = await readings.value(activity_feed(hub, scope))
            completed = activity.completed_days(hub.clock.now())
            rows = activity.within(whole.rows, tuple(day for day in completed if day in days))
            uses = await _uses(readings, scope, by, whole)
            groups = _in_order(grouped(uses, rows, by), by)
            if arguments.output == "table":
                narrate(f"{days} UTC: {len(groups)} sums of {len(rows)} rows")
            known = [name for part in by for name in (part, *_IDS.get(part, ()))]
            sums = [_sums(parts, summary, uses, by) for parts, summary in groups]
            print_rows(sums, arguments, (*known, *_FIGURES), default=(*by, *_FIGURES))
            return readings.exit_code

    return run_async(work)


def _parts(arguments: argparse.Namespace) -> tuple[Part, ...]:
    given = [name for name in _ROWS_ONLY if getattr(arguments, name) is not None]
    if given:
        raise exits.CommandError(f"--{given[0]} cannot be combined with --group-by", exits.USAGE)
    names = [name.strip() for name in arguments.group_by.split(",")]
    known: Mapping[str, Part] = {part: part for part in PARTS}
    for name in names:
        if name not in known:
            raise exits.CommandError(
                f"--group-by: unknown part {name!r}{among(name, PARTS)}", exits.USAGE
            )
        if names.count(name) > 1:
            raise exits.CommandError(f"--group-by: {name} is given twice", exits.USAGE)
        if arguments.parent is not None and name in {"key", "user"}:
            raise exits.CommandError(
                f"--group-by {name} cannot be combined with --key", exits.USAGE
            )
    return tuple(known[name] for name in names)


def _days(arguments: argparse.Namespace, readings: CommandReadings) -> DayRange:
    completed = activity.completed_days(readings.hub.clock.now())
    options = [f"--{name}" for name in ("since", "until") if getattr(arguments, name)]
    with exits.reporting(ValueError, context=f"{' and '.join(options)}: "):
        return days_between(arguments.since, arguments.until, completed)


async def _uses(
    readings: CommandReadings, scope: Scope, by: Sequence[Part], whole: Any
) -> UsageRows:
    hub = readings.hub
    if "key" in by:
        keys = await readings.value(key_activity_feed(hub, scope))
        if keys.left_out:
            readings.report_missing(
                f"{keys.left_out} keys were not read; they are summed up as the rest"
            )
        return key_usage(keys, whole)
    if "user" in by:
        users = await readings.value(every_user_activity_feed(hub, scope))
        if users.left_out:
            readings.report_missing(
                f"{users.left_out} people were not read; they are summed up as the rest"
            )
        return user_usage(users, whole)
    return account_usage(whole)


def _in_order(
    groups: Mapping[tuple[str, ...], ActivitySummary], by: Sequence[Part]
) -> list[tuple[tuple[str, ...], ActivitySummary]]:
    place = by.index("day") if "day" in by else None

    def order(group: tuple[tuple[str, ...], ActivitySummary]) -> tuple[Any, ...]:
        parts, summary = group
        day = "" if place is None else parts[place]
        return day, summary.spend is None, -(summary.spend or 0), parts

    return sorted(groups.items(), key=order)


def _sums(
    parts: tuple[str, ...], summary: ActivitySummary, uses: UsageRows, by: Sequence[Part]
) -> dict[str, Any]:
    sums: dict[str, Any] = {}
    for part, identity in zip(by, parts, strict=True):
        known = bool(identity) and identity != OTHERS
        sums[part] = uses.name(part, identity) if identity else None
        for name in _IDS.get(part, ()):
            sums[name] = identity if known else None
    return {**sums, **{name: getattr(summary, name) for name in _FIGURES}}


_LIST = list_command(_RESOURCE)
VERBS = (
    replace(
        _LIST,
        run=_run,
        arguments=(
            *_LIST.arguments,
            Argument(
                "--since",
                metavar="DAY",
                default="",
                help="first UTC day: 2026-11-01, yesterday, or a number of days ago (7d)",
            ),
            Argument(
                "--until",
                metavar="DAY",
                default="",
                help="last UTC day, inclusive; the current day is not reported",
            ),
            Argument(
                "--group-by",
                metavar="A,B",
                offers=PARTS,
                help=f"print sums by one or more of {', '.join(PARTS)}; key and user "
                "need one request per key or user",
            ),
        ),
    ),
)
