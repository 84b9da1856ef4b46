"""Actions on alerts, their rules and findings.

Alerts and rules are stored on this machine, never on the gateway. A finding is fixed by the action
of the list of the affected resource.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError
from textual import work
from textual.content import Content

from gwtui.client.errors import NotSentError
from gwtui.contract.request import problems
from gwtui.crud.fields import PickOption, PreviewContext
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Applied, Outcome
from gwtui.crud.resource import Cell, Scope
from gwtui.domain.alert_rules import GATEWAY, KINDS, AlertRule, model_name, subject_name
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import DAY, age, utc
from gwtui.local.alerts import (
    AlertFileError,
    new_identity,
    put_rule,
    remove_rule,
)
from gwtui.resources.actions import by_id
from gwtui.resources.alerts import (
    SilenceRequest,
    rule_form,
    silence_form,
)
from gwtui.resources.choices import value_soon
from gwtui.resources.findings import remedy_of
from gwtui.resources.registry import RESOURCES
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.writing import preview_context, select
from gwtui.ui.commands import key_of
from gwtui.ui.forms.form_screen import FormScreen, Submit
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.picker import Picker
from gwtui.ui.text import cell_content
from gwtui.watch.alerts.evaluator import Preview
from gwtui.watch.alerts.model import Alert
from gwtui.watch.feeds.alerts import RuleRow, alert_rules_feed
from gwtui.watch.history.model import HistoryError

if TYPE_CHECKING:
    from gwtui.domain.findings import AccountFinding
    from gwtui.watch.alerts.session import Alerts


T = TypeVar("T")
Try = Callable[[AlertRule], Awaitable[Preview]]

_TYPING = 0.25
"""Seconds without a key press before the preview of a rule is computed."""
_WEEK = 6.9 * DAY
_NOUNS = {
    "endpoint": "endpoints",
    "key": "keys",
    "workspace": "workspaces",
}


class AlertRuleScreen(FormScreen[str]):
    """Edits and saves a rule, with a preview of the alerts it would have raised."""

    def __init__(
        self, spec: FormSpec, preview_context: PreviewContext, submit: Submit[str], trial: Try
    ) -> None:
        super().__init__(spec, preview_context, submit)
        self._ready_try = trial
        self._tried: AlertRule | None = None
        self._found = Cell("")

    def _show(self) -> None:
        super()._show()
        rule = self.state.request()
        if isinstance(rule, AlertRule) and rule != self._tried:
            self._tried = rule
            self._look_back(rule)

    def _message(self) -> Content:
        message = super()._message()
        return message if message.plain else cell_content(self._found)

    @work(group="preview", exclusive=True)
    async def _look_back(self, rule: AlertRule) -> None:
        await asyncio.sleep(_TYPING)
        try:
            self._found = preview_cell(await self._ready_try(rule), rule)
        except HistoryError as error:
            self._found = Cell(f"No preview: {error}", "muted")
        self._show_message()


def preview_cell(preview: Preview, rule: AlertRule) -> Cell:
    """Return one sentence about the alerts that a rule would have raised."""
    if rule.kind.resource == GATEWAY:
        return Cell("No preview: the metric of this rule is not recorded.", "muted")
    if not preview.recorded:
        return Cell("No preview of past alerts: no history is recorded yet.", "muted")
    noun = _NOUNS.get(rule.kind.resource, "")
    if not preview.of:
        return Cell(f"No preview: no {noun or 'readings'} recorded yet.", "muted")
    seconds = preview.recorded.total_seconds()
    when = "last week" if seconds >= _WEEK else f"in the {age(seconds)} recorded so far"
    if not preview.fired:
        text = f"Would not have fired {when}"
    else:
        often = "once" if preview.fired == 1 else f"{preview.fired} times"
        text = f"Would have fired {often} {when}"
    if preview.still:
        text += f"; {preview.still} would be firing now"
    if preview.subjects < preview.of:
        text += f" (the first {preview.subjects} of {preview.of} {noun} were checked)"
    return Cell(f"{text}.", "warn" if preview.fired else "plain")


_NAME = 60


def _alerts(context: ActionContext) -> Alerts:
    session = context.app.open_session
    if session.alerts is None:
        raise NotSentError("Alerts are off: this session records no history")
    return session.alerts


async def _kept(change: Awaitable[T]) -> T:
    try:
        return await change
    except ValidationError as error:
        raise NotSentError(str(problems(error)[0])) from None
    except (AlertFileError, HistoryError) as error:
        raise NotSentError(str(error)) from error


# Alerts -----------------------------------------------------------------------------------------


async def acknowledge(context: ActionContext[Alert]) -> None:
    """Acknowledge the alert."""
    keys = [alert.key for alert in context.chosen]
    count = await _kept(_alerts(context).acknowledge(keys))
    context.app.say(
        f"Acknowledged {_counted(count)}" if count else "Already acknowledged, or not firing"
    )


async def silence(context: ActionContext[Alert]) -> None:
    """Silence the chosen alerts for a time; if all are silenced already, end that."""
    alerts, chosen = _alerts(context), context.chosen
    keys = [alert.key for alert in chosen]
    if all(alert.silenced_until is not None for alert in chosen):
        await _kept(alerts.unsilence(keys))
        context.app.say(f"Unsilenced {_counted(len(keys))}")
        return

    async def submit(request: SilenceRequest) -> Outcome[str]:
        until = context.app.clock.now() + request.lasts
        await _kept(alerts.silence(keys, until))
        return Applied(utc(until))

    form: FormScreen[str] = FormScreen(silence_form(len(keys)), preview_context(context), submit)
    match await context.app.push_screen_wait(form):
        case Applied(until):
            context.app.say(f"Silenced {_counted(len(keys))} until {until}")


def _counted(count: int) -> str:
    return "1 alert" if count == 1 else f"{count} alerts"


# Rules ------------------------------------------------------------------------------------------


async def create(context: ActionContext) -> None:
    """Choose a kind of rule and fill in its form."""
    alerts = _alerts(context)
    choices = [
        PickOption(kind, model.kind.title, model.kind.about) for kind, model in KINDS.items()
    ]
    kind = await context.app.push_screen_wait(Picker("What to watch", choices, current=None))
    if kind is not None:
        await _edit(context, alerts, None, KINDS[kind])


async def edit(context: ActionContext[RuleRow]) -> None:
    """Show the edit form of the rule."""
    row = context.target
    await _edit(context, _alerts(context), row, type(row.rule))


async def _edit(
    context: ActionContext, alerts: Alerts, row: RuleRow | None, model: type[AlertRule]
) -> None:
    async def submit(rule: AlertRule) -> Outcome[str]:
        def save() -> str:
            taken = alerts.load_book().rules
            identity = new_identity(rule.name, taken) if row is None else row.id
            put_rule(alerts.rules, identity, rule)
            return identity

        return Applied(await _kept(asyncio.to_thread(save)))

    async def choices() -> Sequence[PickOption]:
        return await _subjects(context, alerts, model)

    def trial(rule: AlertRule) -> Awaitable[Preview]:
        return alerts.preview("preview" if row is None else row.id, rule)

    if context.is_covered:
        return
    listed: Sequence[RuleRow] = alert_rules_feed(context.app.hub).state.value or ()
    taken = {row.rule.name for row in listed}
    spec = rule_form(None if row is None else row.rule, model, choices, taken)
    form = AlertRuleScreen(spec, preview_context(context), submit, trial)
    match await context.app.push_screen_wait(form):
        case Applied(identity):
            await alerts.reevaluate()
            context.app.say("Rule saved")
            select(context, identity)


async def _subjects(
    context: ActionContext, alerts: Alerts, model: type[AlertRule]
) -> Sequence[PickOption]:
    now = context.app.clock.now()
    facts = await _kept(alerts.read(lambda history: history.facts_at(now)))
    options: dict[str, PickOption] = {}
    scopes = model.model_fields["scope"].annotation.__args__  # type: ignore[union-attr]
    for subject, fields in facts.items():
        if subject.resource in scopes:
            name = safe_line(subject_name(subject, fields), _NAME)
            options[subject.identity] = PickOption(subject.identity, name, subject.resource)
        of_model = model_name(subject)
        if of_model and "model" in scopes:
            options[of_model] = PickOption(of_model, safe_line(of_model, _NAME), "model")
    return tuple(sorted(options.values(), key=lambda option: (option.note, option.title)))


async def toggle(context: ActionContext[RuleRow]) -> None:
    """Enable or disable a rule."""
    alerts, row = _alerts(context), context.target
    rule = row.rule.model_copy(update={"enabled": not row.rule.enabled})
    await _kept(asyncio.to_thread(put_rule, alerts.rules, row.id, rule))
    await alerts.reevaluate()
    context.app.say(f"Rule “{safe_line(row.name, _NAME)}” is {'on' if rule.enabled else 'off'}")


async def delete(context: ActionContext[RuleRow]) -> None:
    """Delete a user-defined rule; reset a built-in one."""
    alerts, row = _alerts(context), context.target
    if row.built_in and not row.edited:
        key = key_of("alert-rules.toggle")
        context.app.say(f"A built-in rule cannot be deleted: {key} switches it off")
        return
    name = safe_line(row.name, _NAME)
    agreed = await context.app.push_screen_wait(
        AskScreen(
            f"{'Reset' if row.built_in else 'Delete'} the rule “{name}”?",
            "It returns to its defaults."
            if row.built_in
            else "Its alerts end; their history stays.",
            safe="Keep it",
            deliberate="Reset" if row.built_in else "Delete",
        )
    )
    if agreed:
        await _kept(asyncio.to_thread(remove_rule, alerts.rules, row.id))
        await alerts.reevaluate()
        if not row.built_in:
            context.expect_removed()
        context.app.say(f"Rule “{name}” {'reset' if row.built_in else 'deleted'}")


# Findings -----------------------------------------------------------------------------------------


async def fix(context: ActionContext[AccountFinding]) -> None:
    """Start the action that fixes the finding, on the affected row."""
    app, finding = context.app, context.target
    way = remedy_of(finding)
    if way is None:
        app.say(finding.advice or "No request can fix this")
        return
    subject = await _subject(context)
    if context.is_covered:
        return
    if way.action == "keys.toggle" and subject.target.key.disabled is not False:
        # The action would switch it on again.
        app.say("The key is already disabled, or its state is unknown")
        return
    await app.perform(by_id(way.action), replace(subject, argument=way.field))


async def _subject(context: ActionContext[AccountFinding]) -> ActionContext[Any]:
    subject = context.target.subject
    spec = RESOURCES[subject.resource]
    rows = await value_soon(spec.feed(context.app.hub, Scope()))
    if rows is None:
        raise NotSentError(f"The {spec.plural or spec.singular + 's'} could not be read")
    row = next((row for row in rows if spec.identity(row) == subject.identity), None)
    if row is None:
        raise NotSentError(f"This {spec.singular} no longer exists")
    return replace(context, spec=spec, target=row, identity=subject.identity)


HANDLERS: Mapping[str, Handler] = {
    "alerts.acknowledge": acknowledge,
    "alerts.silence": silence,
    "alert-rules.create": create,
    "alert-rules.edit": edit,
    "alert-rules.toggle": toggle,
    "alert-rules.delete": delete,
    "findings.fix": fix,
}
