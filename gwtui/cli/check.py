"""``gwtui check``: a status line and an exit code for monitoring systems."""

from __future__ import annotations

import argparse
import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from gwtui.cli.check_sources import Finding, Severity, check_gateway, status_line, worst_of
from gwtui.cli.command import DEMO, Argument, Command
from gwtui.cli.exits import CommandError
from gwtui.cli.output import data_on_stdout
from gwtui.cli.target import find_profile, resolve_connection
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
from gwtui.local.paths import Paths
from gwtui.local.profiles import (
    THRESHOLDS,
    TIME_LIMIT,
    WINDOW,
    Thresholds,
    threshold_conflict,
)
from gwtui.local.settings_file import Setting
from gwtui.local.toml_file import WrongSettingError

_DASHES = str.maketrans("_", "-")
_REPEATED = {"models": "--model"}
_WINDOW = "uptime_window"
_KINDS: Mapping[str, type[ConditionRule]] = {
    "credits": CreditsRule,
    "runway": RunwayRule,
    "uptime": UptimeRule,
    "keys": KeyLimitRule,
    "expiry": KeyExpiryRule,
}
"""The alert rule kind of each threshold."""
_ALWAYS = ("credits", "uptime")
"""Thresholds that the alert rules supply even without ``--rules``."""


def _arguments() -> Iterator[Argument]:
    for setting in THRESHOLDS:
        option = _REPEATED.get(setting.name, f"--{setting.name.translate(_DASHES)}")
        if setting.kind == "names":
            yield Argument(
                option,
                dest=setting.name,
                action="append",
                metavar="AUTHOR/SLUG",
                kind="models",
                help=f"{setting.help}; may be repeated",
            )
        elif setting.kind == "flag":
            yield Argument(option, action="store_true", default=None, help=setting.help)
        else:
            default = f" (default: {setting.default})" if setting.default else ""
            metavar = "N" if setting.kind == "amount" else setting.name.rpartition("_")[2].upper()
            yield Argument(option, metavar=metavar, help=f"{setting.help}{default}")
    yield DEMO


def run(arguments: argparse.Namespace) -> int:
    """Run all checks and print the status line; return its ``Severity`` as exit code."""
    paths = Paths.of_user()
    try:
        thresholds, alert_rules = _configured(arguments, paths)
        rules = rules_of(thresholds, alert_rules.values())
        connect = resolve_connection(arguments, paths, may_ask=False)
        findings = asyncio.run(check_gateway(connect, thresholds, rules, alert_rules))
    except TimeoutError:
        return _refuse(f"no response within {thresholds.get('timeout', TIME_LIMIT):g} s")
    except CommandError as error:
        return _refuse(str(error))
    except Exception as error:
        # The exit code 1 of an uncaught error would mean a warning.
        logging.getLogger(__name__).exception("the check failed")
        return _refuse(f"the check itself failed: {type(error).__name__}")
    return _print(findings)


def _print(findings: list[Finding]) -> int:
    with data_on_stdout():
        print(status_line(findings))
    return int(worst_of(findings))


def _refuse(message: str) -> int:
    return _print([Finding(Severity.UNKNOWN, message)])


def _configured(
    arguments: argparse.Namespace, paths: Paths
) -> tuple[Thresholds, Mapping[str, AlertRule]]:
    # Options override the thresholds of the profile. The alert rules are those of the profile.
    options = {
        setting.name: _typed(setting, typed)
        for setting in THRESHOLDS
        if (typed := getattr(arguments, setting.name)) is not None
    }
    profile = None if arguments.demo else find_profile(arguments, paths)
    thresholds = {**({} if profile is None else profile.check), **options}
    if problem := threshold_conflict(thresholds):
        raise CommandError(problem)
    chosen = thresholds.get("models") or thresholds.get("watched")
    if (arguments.uptime_warning or arguments.uptime_critical) and not chosen:
        raise CommandError("give the models whose uptime to check with --model or --watched")
    try:
        rules = load_alerts(paths.config / FILE_NAME).rules
    except AlertFileError as error:
        raise CommandError(str(error)) from None
    label = "demo" if profile is None else profile.label
    active = {
        identity: rule
        for identity, rule in rules.items()
        if rule.enabled and rule.profile in (None, label)
    }
    return thresholds, active


def _typed(setting: Setting, typed: Any) -> Any:
    try:
        value = setting.parse(typed) if isinstance(typed, str) else typed
        problem = setting.problem(setting.name, value)
    except WrongSettingError as error:
        problem = error.message
    if problem:
        raise CommandError(f"{setting.name}: {problem}")
    return value


def rules_of(thresholds: Thresholds, alert_rules: Iterable[AlertRule]) -> tuple[ConditionRule, ...]:
    """Return the rules to check, made from ``thresholds`` or chosen from ``alert_rules``.

    The alert rules of a kind are used if there is no threshold for this kind: always for credits
    and uptime, for other kinds only if the threshold setting ``rules`` is on.
    """
    rules: list[ConditionRule] = []
    window = {"window": thresholds[_WINDOW]} if _WINDOW in thresholds else {}
    for name, kind in _KINDS.items():
        given = {
            severity: Decimal(thresholds[f"{name}_{severity}"])
            for severity in ("warning", "critical")
            if f"{name}_{severity}" in thresholds
        }
        if given:
            rules += [_rule(kind, severity, bound, thresholds) for severity, bound in given.items()]
        elif thresholds.get("rules") or name in _ALWAYS:
            chosen = window if kind is UptimeRule else {}
            rules += [
                rule.model_copy(update=chosen) for rule in alert_rules if isinstance(rule, kind)
            ]
    return tuple(rules)


def _rule(
    kind: type[ConditionRule], severity: str, bound: Decimal, thresholds: Thresholds
) -> ConditionRule:
    # Rules for alerts are validated, but thresholds may have any bounds.
    fields: dict[str, Any] = {
        "name": kind.kind.title,
        "severity": severity,
        **dict.fromkeys(("fires_at", "clears_at", "within"), bound),
        "window": thresholds.get(_WINDOW, WINDOW),
    }
    return kind.model_construct(**fields)


COMMAND = Command(run=run, arguments=tuple(_arguments()), refuse=_refuse)
