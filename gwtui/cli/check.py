"""``gwtui check``: a status line and an exit code for monitoring systems."""

from __future__ import annotations

import argparse
import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError

from gwtui.cli.check_result import Finding, Severity, one_line, worst_of
from gwtui.cli.check_sources import check_gateway
from gwtui.cli.command import DEMO, Argument, Command
from gwtui.cli.exits import CommandError
from gwtui.cli.output import data_on_stdout
from gwtui.cli.target import find_profile, resolve_connection
from gwtui.contract.request import problems
from gwtui.domain.alert_rules import (
    AlertRule,
    ConditionRule,
    CreditsRule,
    KeyExpiryRule,
    KeyLimitRule,
    RunwayRule,
    UptimeRule,
)
from gwtui.local.alerts import FILE_NAME, AlertFileError, load_alerts
from gwtui.local.check_thresholds import CheckThresholds
from gwtui.local.paths import Paths

_DASHES = str.maketrans("_", "-")
_REPEATED = {"models": "--model"}
_KINDS: Mapping[str, type[ConditionRule]] = {
    "credits": CreditsRule,
    "runway": RunwayRule,
    "uptime": UptimeRule,
    "keys": KeyLimitRule,
    "expiry": KeyExpiryRule,
}
"""The kind of alert rule of each threshold."""
_ALWAYS = ("credits", "uptime")
"""The thresholds that default to the alert rules even without ``--rules``."""


def _arguments() -> Iterator[Argument]:
    """An option for each threshold of a profile."""
    for name, field in CheckThresholds.model_fields.items():
        option = _REPEATED.get(name, f"--{name.translate(_DASHES)}")
        text = field.description or ""
        if name in _REPEATED:
            yield Argument(
                option,
                dest=name,
                action="append",
                metavar="AUTHOR/SLUG",
                kind="models",
                help=f"{text}; may be repeated",
            )
        elif field.annotation is bool:
            yield Argument(option, action="store_true", default=None, help=text)
        else:
            default = f" (default: {field.default})" if field.default is not None else ""
            choices = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
            metavar = f"{{{','.join(choices)}}}" if choices else "N"
            yield Argument(option, metavar=metavar, help=f"{text}{default}")
    yield DEMO


def run(arguments: argparse.Namespace) -> int:
    """Run all checks and print the status line; returns 0, 1, 2 or 3."""
    paths = Paths.of_user()
    try:
        thresholds, rules = _configured(arguments, paths)
        connect = resolve_connection(arguments, paths, may_ask=False)
        findings = asyncio.run(check_gateway(connect, thresholds, rules))
    except TimeoutError:
        return _refuse(f"no answer within {thresholds.timeout:g} s")
    except CommandError as error:
        return _refuse(str(error))
    except Exception as error:
        # The exit code 1 of an uncaught error would mean a warning.
        logging.getLogger(__name__).exception("the check failed")
        return _refuse(f"the check itself failed: {type(error).__name__}")
    return _print(findings)


def _print(findings: list[Finding]) -> int:
    with data_on_stdout():
        print(one_line(findings))
    return int(worst_of(findings))


def _refuse(message: str) -> int:
    return _print([Finding(Severity.UNKNOWN, message)])


def _configured(
    arguments: argparse.Namespace, paths: Paths
) -> tuple[CheckThresholds, tuple[ConditionRule, ...]]:
    """The thresholds and the rules to check by. Raises CommandError.

    Options override the thresholds of the profile, which override the alert rules.
    """
    written: dict[str, Any] = {}
    profile = None if arguments.demo else find_profile(arguments, paths)
    if profile is not None and profile.check is not None:
        check = profile.check
        written = {name: getattr(check, name) for name in check.model_fields_set}
    given = {
        name: value
        for name in CheckThresholds.model_fields
        if (value := getattr(arguments, name)) is not None
    }
    try:
        thresholds = CheckThresholds.model_validate({**written, **given})
        rules = load_alerts(paths.config / FILE_NAME).rules
    except ValidationError as error:
        raise CommandError("; ".join(map(str, problems(error)))) from None
    except AlertFileError as error:
        raise CommandError(str(error)) from None
    label = "demo" if profile is None else profile.label
    active = [rule for rule in rules.values() if rule.enabled and rule.profile in (None, label)]
    return thresholds, rules_of(thresholds, active)


def rules_of(
    thresholds: CheckThresholds, alert_rules: Iterable[AlertRule]
) -> tuple[ConditionRule, ...]:
    """The rules to check by: the given thresholds, or else the alert rules."""
    rules: list[ConditionRule] = []
    for name, kind in _KINDS.items():
        given = thresholds.model_fields_set & {f"{name}_warning", f"{name}_critical"}
        if given:
            bounds = {one.rpartition("_")[2]: getattr(thresholds, one) for one in given}
            rules += [
                _rule(kind, severity, bound, thresholds)
                for severity, bound in bounds.items()
                if bound is not None
            ]
        elif thresholds.rules or name in _ALWAYS:
            chosen = kind is UptimeRule and "uptime_window" in thresholds.model_fields_set
            window = {"window": thresholds.uptime_window} if chosen else {}
            rules += [one.model_copy(update=window) for one in alert_rules if isinstance(one, kind)]
    return tuple(rules)


def _rule(
    kind: type[ConditionRule], severity: str, bound: Decimal, thresholds: CheckThresholds
) -> ConditionRule:
    """A threshold as a rule. Not validated: thresholds may have any bounds."""
    fields: dict[str, Any] = {
        "name": kind.kind.title,
        "severity": severity,
        **dict.fromkeys(("fires_at", "clears_at", "within"), bound),
        "window": thresholds.uptime_window,
    }
    return kind.model_construct(**fields)


COMMAND = Command(run=run, arguments=tuple(_arguments()), refuse=_refuse)
