"""What the actions on BYOK credentials do.

A raw key goes from its field to the request; it is in no sentence, plan or journal on the way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from gwtui.actions.byok_plans import (
    LABELS,
    check_provider,
    in_words,
    known_values,
    plan_create,
    plan_delete,
    plan_rotate,
    plan_set_disabled,
    plan_update,
    shown_name,
)
from gwtui.actions.plan import Applied, Outcome, Refused
from gwtui.actions.uses import Uses, credential_uses, items_soon
from gwtui.client.errors import GatewayError, NotFoundError, NotSentError
from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.contract.request import RequestModel
from gwtui.domain.safe_text import safe_line
from gwtui.ui.context import ActionContext, Handler
from gwtui.ui.forms.byok_form import ByokSources, create_form, edit_form, rotate_form
from gwtui.ui.forms.editing import Editing
from gwtui.ui.forms.fields import Facts, FormSpec, PickOption
from gwtui.ui.forms.form_screen import FormScreen, Submit
from gwtui.ui.forms.writing import (
    carry_out,
    confirm,
    confirm_and_tell,
    covered,
    plain_facts,
    read_again,
    refresh,
    say_done,
    select,
    submitted,
    value_now,
    value_soon,
    workspace_facts,
)
from gwtui.ui.resources.byok import FEEDS, names_feed
from gwtui.ui.resources.byok_row import ByokRow
from gwtui.ui.resources.keys import fetch_keys
from gwtui.ui.resources.models import models_feed
from gwtui.ui.resources.people import shown_person
from gwtui.ui.resources.providers import providers_feed

_NAME = 60


async def create(context: ActionContext) -> None:
    """A form, one request, the new row selected."""
    app = context.app
    facts = await workspace_facts(context)
    if covered(context):
        return

    async def submit(request: RequestModel) -> Outcome[ByokCredential] | None:
        wish = cast("CreateByokRequest", request)
        known = await value_soon(providers_feed(app.hub, app.scope))
        check = check_provider(wish.provider, known)
        plan = plan_create(wish, facts.workspaces, check.said)
        if check.listed is False:
            consent = await confirm(context, plan, "Store it all the same")
        else:
            consent = await submitted(context, plan, "Store it")
        return None if consent is None else await carry_out(context, consent)

    spec = create_form(app.scope.workspace, _sources(context))
    made = await _fill_in(context, spec, facts, submit)
    if made is not None:
        say_done(context, f"Credential {shown_name(made)} stored; its key is never shown again")
        if made.id:
            select(context, made.id)


async def edit(context: ActionContext) -> None:
    """A form filled from the row; on submit it is read again before anything is sent."""
    app, credential = context.app, _credential(context)
    if credential is None:
        return
    facts = await workspace_facts(context)
    names = await value_soon(names_feed(app.hub, app.scope)) or {}
    if covered(context):
        return
    editing = Editing(
        context=context,
        original=credential,
        noun="credential",
        called=f"Credential {shown_name(credential)}",
        read=lambda: app.gateway.byok.get(credential.id or ""),
        known=known_values,
        labels=LABELS,
        words=in_words(names),
        plan=lambda fresh, wanted: plan_update(
            fresh, UpdateByokRequest.model_validate(wanted), names
        ),
        uses=partial(credential_uses, app.gateway),
    )
    spec = edit_form(credential, _sources(context))
    changed = await _fill_in(context, spec, facts, editing.submit)
    if changed is not None:
        say_done(context, f"Credential {shown_name(changed)} changed")


async def rotate(context: ActionContext) -> None:
    """A small form for the new key, then what is lost, then one request."""
    app, credential = context.app, _credential(context)
    if credential is None:
        return
    fresh = await _read_again(context, credential)
    if fresh is None or covered(context):
        return

    async def submit(request: RequestModel) -> Outcome[ByokCredential] | None:
        try:
            now = await app.gateway.byok.get(credential.id or "")
        except NotFoundError:
            return Refused(NotSentError("This credential no longer exists."))
        except GatewayError as error:
            why = f"Nothing was sent: the credential could not be read again. {error.message}"
            return Refused(NotSentError(why))
        plan = plan_rotate(now, cast("UpdateByokRequest", request).key)
        plan = replace(plan, effects=(*plan.effects, *await credential_uses(app.gateway, now)))
        notes: tuple[str, ...] = ()
        if now.label != fresh.label:
            notes = ("Somebody else rotated it while the form was open.",)
        consent = await confirm(context, plan, "Overwrite the old key", notes=notes)
        return None if consent is None else await carry_out(context, consent)

    facts = plain_facts(context)
    rotated = await _fill_in(context, rotate_form(fresh), facts, submit)
    if rotated is not None:
        label = safe_line(rotated.label or "masked", _NAME)
        say_done(context, f"Credential {shown_name(fresh)} rotated; its key is now {label}")


async def toggle(context: ActionContext) -> None:
    """Disable an enabled credential, enable a disabled one: as the row showed it."""
    credential = _credential(context)
    if credential is None:
        return
    if credential.disabled is None:
        why = "It is not known whether this credential is disabled"
        context.app.say(why, severity="warning")
        return
    wish = not credential.disabled
    fresh = await _read_again(context, credential)
    if fresh is None:
        return
    done = f"Credential {shown_name(fresh)} {'disabled' if wish else 'enabled'}"
    if fresh.disabled is wish:
        context.app.say(f"{done} already")
        await refresh(context, FEEDS)
        return
    plan = plan_set_disabled(fresh, wish, *(await _around(context, fresh) if wish else ()))
    await confirm_and_tell(context, plan, "Disable" if wish else "Enable", done, FEEDS)


async def delete(context: ActionContext) -> None:
    """Delete a credential, its key wiped, after a confirmation that no single key gives."""
    credential = _credential(context)
    fresh = None if credential is None else await _read_again(context, credential)
    if fresh is not None:
        plan = plan_delete(fresh, *await _around(context, fresh))
        done = f"Credential {shown_name(fresh)} deleted, its key wiped"
        await confirm_and_tell(context, plan, "Delete and wipe", done, FEEDS)


# What they share --------------------------------------------------------------------------------


async def _fill_in(
    context: ActionContext, spec: FormSpec, facts: Facts, submit: Submit[ByokCredential]
) -> ByokCredential | None:
    """Let the person fill a form in; what was applied, None for everything else."""
    form: FormScreen[ByokCredential] = FormScreen(spec, facts, submit)
    outcome = await context.app.push_screen_wait(form)
    if outcome is not None:
        await refresh(context, FEEDS)
    return outcome.value if isinstance(outcome, Applied) else None


def _credential(context: ActionContext) -> ByokCredential | None:
    """What was selected at the key press; says so when it cannot be written to."""
    credential = cast("ByokRow", context.target).credential
    if credential.id:
        return credential
    why = "The gateway gave this credential no id: it cannot be changed"
    context.app.say(why, severity="warning")
    return None


async def _read_again(context: ActionContext, credential: ByokCredential) -> ByokCredential | None:
    read = context.app.gateway.byok.get(credential.id or "")
    return await read_again(context, read, f"Credential {shown_name(credential)}", FEEDS)


async def _around(
    context: ActionContext, fresh: ByokCredential
) -> tuple[Sequence[ByokCredential] | None, Uses]:
    """The provider's other credentials in the same workspace, and who may use this one."""
    byok = context.app.gateway.byok
    listed, uses = await asyncio.gather(
        items_soon(byok.list(workspace_id=fresh.workspace_id, provider=fresh.provider)),
        credential_uses(context.app.gateway, fresh),
    )
    others = None if listed is None else [one for one in listed if one.id != fresh.id]
    return others, uses


def _sources(context: ActionContext) -> ByokSources:
    return ByokSources(
        providers=partial(_providers, context),
        models=partial(_models, context),
        members=partial(_members, context),
        keys=partial(_keys, context),
    )


async def _providers(context: ActionContext) -> Sequence[PickOption]:
    found = await value_now(providers_feed(context.app.hub, context.app.scope))
    return [
        PickOption(one.slug, safe_line(one.slug, _NAME), safe_line(one.name or "", _NAME))
        for one in found
        if one.slug
    ]


async def _models(context: ActionContext) -> Sequence[PickOption]:
    found = await value_now(models_feed(context.app.hub, context.app.scope))
    return [
        PickOption(one.id, safe_line(one.id, _NAME), safe_line(one.name or "", _NAME))
        for one in found
        if one.id
    ]


async def _members(context: ActionContext) -> Sequence[PickOption]:
    people = (await context.app.gateway.organization.members()).items
    return [
        PickOption(one.id, shown_person(one, one.id), safe_line(one.email or "", _NAME))
        for one in people
        if one.id
    ]


async def _keys(context: ActionContext) -> Sequence[PickOption]:
    rows = await fetch_keys(context.app.gateway, None)
    return [
        PickOption(
            row.key.hash,
            safe_line(row.key.name or row.key.label or row.key.hash, _NAME),
            safe_line(row.workspace_name or "", _NAME),
        )
        for row in rows
        if row.key.hash
    ]


HANDLERS: Mapping[str, Handler] = {
    "byok.create": create,
    "byok.edit": edit,
    "byok.rotate": rotate,
    "byok.toggle": toggle,
    "byok.delete": delete,
}
