"""What a rule looks at, and what its subjects are called."""

from __future__ import annotations

from gwtui.domain.alert_rules import AlertRule, GuardrailRule
from gwtui.domain.safe_text import safe_line
from gwtui.watch.alerts.kinds import SIGNALS, Signal
from gwtui.watch.alerts.model import GATEWAY, GUARDED
from gwtui.watch.history.facts import NAME
from gwtui.watch.history.model import ACCOUNT, Fields, Subject, model_of

_NAME = 80


def signal_of(rule: AlertRule) -> Signal:
    """What a rule watches."""
    return SIGNALS[type(rule)]


def resource_of(rule: AlertRule) -> str:
    """What a rule's alerts are about, as the history calls it."""
    return GUARDED if isinstance(rule, GuardrailRule) else rule.RESOURCE


def watches(rule: AlertRule, subject: Subject, facts: Fields) -> bool:
    """Whether a subject is in a rule's scope."""
    if rule.scope == "all":
        return True
    if rule.scope == "model":
        return rule.only == model_name(subject)
    if rule.scope == "workspace" and subject.resource != "workspace":
        return rule.only == facts.get("workspace_id")
    return rule.only == subject.identity


def model_name(subject: Subject) -> str:
    """The model that a subject belongs to; empty where it belongs to none."""
    if subject.resource == GUARDED:
        return subject.identity.partition(" ")[2]
    return model_of(subject.identity) if subject.resource == "endpoint" else ""


def subject_name(subject: Subject, facts: Fields) -> str:
    """What a subject is called, fit to be shown."""
    called = safe_line(facts.get(NAME) or subject.identity, _NAME)
    match subject.resource:
        case "credits":
            return "account"
        case "endpoint":
            return safe_line(f"{model_name(subject)} at {called}", _NAME)
        case _ if subject.resource == GUARDED:
            return safe_line(f"{called} · {model_name(subject)}", _NAME)
        case _ if subject == Subject(GATEWAY, ACCOUNT):
            return "gateway"
        case _ if subject.resource == GATEWAY:
            return f"reading of {called.replace(':', ' of ')}"
    return called
