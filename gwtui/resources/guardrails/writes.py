"""The writes of guardrails: contract "POST /guardrails"; extended contract section 5."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from functools import cache, partial
from typing import Any, get_args

from pydantic import ValidationError

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.content_filters import (
    PROMPT_INJECTION,
    BuiltinFilter,
    BuiltinFilterRequest,
    CustomFilter,
    CustomFilterRequest,
)
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.guardrails import (
    CreateGuardrailRequest,
    Guardrail,
    KeyAssignment,
    MemberAssignment,
    UpdateGuardrailRequest,
    never_sent,
)
from gwtui.contract.models import Model
from gwtui.contract.request import Problem, RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.contract.values import Region
from gwtui.contract.workspaces import Workspace
from gwtui.crud.fields import (
    ON_OFF,
    Choices,
    Facts,
    Field,
    Fields,
    Format,
    FormContext,
    PickOption,
    PlanContext,
    Preview,
    limit_field,
    workspace_field,
)
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Plan, Undo, UndoPlanner
from gwtui.crud.plan_text import (
    MOST_NAMED,
    NAME_LIMIT,
    Names,
    count,
    identity_of,
    named,
    quoted,
    several,
)
from gwtui.crud.resource import Cell
from gwtui.crud.writes import Create, Delete, Update, Writes
from gwtui.domain.money import usd
from gwtui.domain.resets import describe_reset
from gwtui.domain.safe_text import safe_line
from gwtui.resources import choices
from gwtui.resources.choices import value_now
from gwtui.resources.guardrails.effect import LiveEffect
from gwtui.resources.guardrails.view import display_name, shown_name
from gwtui.resources.uses import Uses, guardrail_bindings, people_names
from gwtui.watch.feeds.guardrails import FEEDS, GuardrailRow
from gwtui.watch.feeds.models import catalog_feed, models_feed
from gwtui.watch.hub import Scope

_PERIODS = {"daily": "each UTC day", "weekly": "each UTC week", "monthly": "each UTC month"}
_HINT = Cell("F2 shows which endpoints remain", "muted")

LISTS = ("allowed_models", "ignored_models", "allowed_providers", "ignored_providers")
"""The lists that decide which endpoints remain."""
_FILTERS = ("content_filter_builtins", "content_filters")
_PATTERN_LIMIT = 120


def _limit(*, together: bool) -> Preview:
    def preview(value: Decimal | None, values: Mapping[str, Any], _facts: Facts) -> Cell:
        if value is None:
            end = "; a cap is given together with its interval" if together else ""
            return Cell(f"no cap{end}", "muted")
        period = _PERIODS.get(values.get("reset_interval") or "", "in total; it never resets")
        return Cell(f"each key and each member may spend {usd(value)} {period}")

    return preview


def _reset(value: str | None, values: Mapping[str, Any], facts: Facts) -> Cell:
    if values.get("limit_usd") is None:
        return Cell("only applies with a spending cap", "muted")
    if value is None:
        return Cell("the cap never resets")
    return Cell(f"next reset {describe_reset(value, facts.now())}")


class _FieldsWithFilters(Fields):
    """Content filters come in another form than the one in which a request carries them."""

    def read(self, model: ResponseModel, names: Iterable[str]) -> dict[str, Any]:
        """Filters as requests, those of an unknown kind included; a list with a gap is missing."""
        known = super().read(model, names)
        for name in _FILTERS:
            filters = known.get(name)
            if filters is not None and any(one.gaps for one in filters):
                # A list is replaced whole: it would lose the entry that is not whole.
                del known[name]
            elif filters is not None:
                known[name] = [_as_request(one) for one in filters]
        return known


def _as_request(one: BuiltinFilter | CustomFilter) -> RequestModel:
    """Convert the gateway's values for a request, keeping unknown ones as they are."""
    model, names = (
        (BuiltinFilterRequest, ("slug", "action", "scan_scope"))
        if isinstance(one, BuiltinFilter)
        else (CustomFilterRequest, ("pattern", "action", "label"))
    )
    values = {name: value for name in names if (value := getattr(one, name)) is not None}
    try:
        return model.model_validate(values)
    except ValidationError:
        return model.model_construct(_fields_set=set(values), **values)


@cache
def fields_of(dialect: Dialect) -> Fields:
    """The fields that the dialect knows, vendors by their names."""
    absent = dialect.absent_fields.get("Guardrail", frozenset())
    return _FieldsWithFilters(*(one for one in _declared(dialect) if one.name not in absent))


def _declared(dialect: Dialect) -> Iterator[Field]:
    first, second, third = dialect.vendors
    yield Field("name", "Name", group="General")
    yield Field("description", "Description", group="General", kind="lines")
    yield workspace_field(editable=False, group="General")
    yield from _routing()
    yield limit_field(
        "limit_usd",
        "Spending cap",
        "no cap",
        group="Cap",
        placeholder="such as 25 or 1,000.50; empty for none",
        preview=_limit(together=dialect.cap_needs_interval),
    )
    yield Field("reset_interval", "Cap resets", _reset_text, "never", group="Cap", preview=_reset)
    yield Field("include_byok_in_budgets", "Count BYOK in cap", group="Cap")
    yield _zdr("enforce_zdr_vendor_a", first)
    yield _zdr("enforce_zdr_vendor_b", second)
    yield _zdr("enforce_zdr_vendor_c", third)
    yield _zdr("enforce_zdr_xai", "xAI")
    yield _zdr("enforce_zdr_other", "other vendors")
    yield _list(
        "content_filter_builtins",
        "Builtin filters",
        "Filters",
        format=_each(builtin_filter_text),
        dialect=dialect,
    )
    yield _list(
        "content_filters",
        "Custom filters",
        "Filters",
        format=_each(custom_filter_text),
        dialect=dialect,
    )
    yield _data_use("enable_free_model_training", "Free models may train")
    yield _data_use("enable_free_model_publication", "Free models may publish")
    yield _data_use("enable_paid_model_training", "Paid models may train")
    yield _data_use("allow_safety_retention_google", "Safety retention Google")
    yield _data_use("allow_safety_retention_other", "Safety retention others")
    yield _list(
        "allowed_data_regions",
        "Data regions",
        "Data use",
        empty="everywhere",
        offers=lambda _context: _regions,
    )


def _routing() -> Iterator[Field]:
    yield _list("allowed_models", "Allowed models", "Routing", empty="every model", free=True)
    yield _list("ignored_models", "Ignored models", "Routing", chosen="never", free=True)
    yield _list(
        "allowed_providers", "Allowed providers", "Routing", empty="every provider", free=True
    )
    yield _list("ignored_providers", "Ignored providers", "Routing", chosen="never", free=True)


def _list(
    name: str, label: str, group: str, empty: str = "none", chosen: str = "only", **more: Any
) -> Field:
    return Field(
        name,
        label,
        empty=empty,
        blank=([],),
        group=group,
        chosen=chosen,
        noun=label.rsplit(maxsplit=1)[-1].lower(),
        **more,
    )


def _zdr(name: str, vendor: str) -> Field:
    """On, off, or left to what else applies."""
    return Field(
        name,
        f"ZDR {vendor}",
        empty="inherit",
        words=ON_OFF,
        group="Retention",
        folded=True,
        help=f"{vendor}: route only to endpoints that keep no data",
    )


def _data_use(name: str, label: str) -> Field:
    return Field(name, label, empty="inherit", words=("refuse", "allow"), group="Data use")


def _reset_text(value: Any, context: PlanContext) -> str:
    return f"{safe_line(value, 40)}, next {describe_reset(value, context.now)}"


def builtin_filter_text(one: BuiltinFilter | BuiltinFilterRequest) -> str:
    """A builtin filter in a few words: "email: redact"."""
    scope = one.slug == PROMPT_INJECTION and one.scan_scope == "user_only"
    end = " (user messages only)" if scope else ""
    return f"{safe_line(one.slug, 40)}: {safe_line(one.action, 40)}{end}"


def custom_filter_text(one: CustomFilter | CustomFilterRequest) -> str:
    """A custom filter in a few words: "redact /gw-[0-9]+/ as [KEY]"."""
    end = f" as {safe_line(one.label, 40)}" if one.label else ""
    return f"{safe_line(one.action, 40)} /{safe_line(one.pattern, _PATTERN_LIMIT)}/{end}"


def _each(describe: Callable[[Any], str]) -> Format:
    def format(filters: Sequence[Any], _context: PlanContext) -> str:
        return several([describe(one) for one in filters], MOST_NAMED)

    return format


FIELDS = _FieldsWithFilters(*_declared(GENERIC))
"""Every field that some service has, the vendors by the reference's names."""


def form_fields(context: FormContext, present: Guardrail | None) -> Iterator[Field]:
    """The fields as a form edits them; ``present`` is what is changed.

    Below each rule with a value stands what all rules together leave of the catalog.
    """
    catalog = catalog_feed(context.hub)
    effect = LiveEffect(lambda: catalog.state.value, context.dialect)
    offers = {"models": _models(context, present), "providers": choices.providers(context)}
    for one in fields_of(context.dialect):
        if one.name in LISTS:
            always = one.name == "allowed_models"
            yield replace(one, choices=offers[one.noun], preview=_live(effect, always=always))
        elif one.group == "Retention":
            yield replace(one, preview=_switch(effect))
        else:
            yield one


def _models(context: FormContext, present: Guardrail | None) -> Choices:
    held = frozenset(
        entry
        for entries in (present and present.allowed_models, present and present.ignored_models)
        for entry in entries or ()
    )

    async def read() -> Sequence[PickOption]:
        return model_options(await value_now(models_feed(context.hub, Scope())), held)

    return read


def model_options(models: Sequence[Model], present: frozenset[str]) -> list[PickOption]:
    """One option for each model with its variants: the slug that they share.

    The gateway answers with that slug whatever was sent. An entry that names a model by another
    identifier keeps its own option, so that it does not look unknown.
    """
    options: dict[str, PickOption] = {}
    for model in models:
        shared = model.canonical_slug or model.id
        title = safe_line(model.name or model.id or "", NAME_LIMIT)
        note = safe_line(model.id or "", NAME_LIMIT)
        if shared:
            options.setdefault(shared, PickOption(shared, title, note))
        if model.id in present and model.id:
            own = PickOption(model.id, title, f"{note}, by its identifier")
            options.setdefault(model.id, own)
    return sorted(options.values(), key=lambda option: option.title.casefold())


def _live(effect: LiveEffect, *, always: bool) -> Preview:
    """The effect of all rules on the catalog, below lists with entries, or always."""

    def preview(value: Any, values: Mapping[str, Any], _facts: Facts) -> Cell | None:
        if value is None and not always:
            return None
        return effect.note(values) or (_HINT if always else None)

    return preview


def _switch(effect: LiveEffect) -> Preview:
    """While a switch is on, what all rules leave; otherwise what the field is for."""
    return lambda value, values, _facts: effect.note(values) if value else None


async def _regions() -> Sequence[PickOption]:
    return [PickOption(region) for region in get_args(Region)]


@dataclass(frozen=True, slots=True)
class BoundBy:
    """The keys and members of a guardrail, as the caller read them; None if unreadable.

    ``workspace`` is the workspace whose default guardrail it is, if any; ``people`` names users.
    """

    keys: Sequence[KeyAssignment] | None = None
    members: Sequence[MemberAssignment] | None = None
    workspace: Workspace | None = None
    people: Names = field(default_factory=dict)

    def in_words(self, what: str) -> Uses:
        """The effect on keys and members: a sentence per kind, starting with ``what``."""
        lines = []
        if self.workspace is not None:
            lines.append(f"all traffic of workspace {_space(self.workspace)}")
        if self.keys:
            names = [quoted(one.key_name, one.key_label, one.key_hash) for one in self.keys]
            lines.append(f"{count(len(names), 'key')}: {several(names)}")
        if self.members:
            names = [named(one.user_id, self.people) for one in self.members]
            lines.append(f"{count(len(names), 'member')}: {several(names)}")
        sentences = [f"{what} {line}." for line in lines]
        if self.keys is None or self.members is None:
            sentences.append("Could not read the full list of assignments.")
        return tuple(sentences)

    @property
    def uses(self) -> Uses:
        """Whom a change binds."""
        nobody = ("The guardrail is not assigned: no request is affected.",)
        return self.in_words("Applies immediately to") or nobody


def _create_effects(request: CreateGuardrailRequest, _context: PlanContext) -> Iterator[str]:
    yield "The guardrail enforces nothing until it is assigned to keys or members."
    if request.limit_usd is not None:
        yield "The cap applies to each key and each member separately."


def _update_effects(
    fresh: Guardrail, request: UpdateGuardrailRequest, _context: PlanContext
) -> Iterator[str]:
    """The added and removed entries of each list, which long lists would hide."""
    known = FIELDS.read(fresh, LISTS)
    for name in LISTS:
        label, before, after = FIELDS.labels[name], known.get(name), getattr(request, name)
        if name not in request.model_fields_set or not before:
            continue
        if after is None:
            yield f"{label}: restriction removed."
            continue
        added = [entry for entry in after if entry not in before]
        removed = [entry for entry in before if entry not in after]
        for what, entries in (("Added to", added), ("Removed from", removed)):
            if entries:
                names = several([safe_line(entry, 60) for entry in entries])
                yield f"{what} {label.lower()}: {names}."


def _delete_effects(
    _fresh: Guardrail, around: BoundBy | None, _context: PlanContext
) -> Iterator[str]:
    lost = (around or BoundBy()).in_words("Protection ends immediately for")
    yield from lost or ("The guardrail is not assigned.",)
    yield "This cannot be undone."


def _space(workspace: Workspace) -> str:
    return quoted(workspace.name, workspace.slug, workspace.id)


_FIXED_NAME = "The name of a default guardrail cannot be changed."
_UPDATE = Update(
    request=UpdateGuardrailRequest,
    effects=_update_effects,
    help="update fields; creates a default guardrail that does not exist yet",
)


@dataclass(frozen=True, kw_only=True)
class _GuardrailWrites(Writes[Guardrail]):
    """A workspace's default guardrail has a fixed name, and comes to exist with its first change.

    Only the ``row`` that was chosen tells which one that is.
    """

    row: GuardrailRow | None = None

    def for_row(self, row: GuardrailRow | None, dialect: Dialect) -> Writes[Guardrail]:
        """With the fields that the dialect knows, and in view of the row."""
        here = replace(self, fields=fields_of(dialect), row=row)
        if row is None:
            return replace(here, around=here._bound)
        update = _UPDATE
        if not row.exists:
            update = replace(update, done=lambda _before, changed: f"{here.title(changed)} set up")
        return replace(here, update=update, uses=here._bound_at_once, around=here._bound)

    def title(self, one: Any) -> str:
        """The guardrail at the beginning of a sentence: a default one by its workspace."""
        return super().title(one) if self.row is None else f"Guardrail {shown_name(self.row)}"

    async def read(self, client: GatewayClient, identity: str) -> Guardrail:
        """The guardrail as it is now; one that is not made yet restricts nothing."""
        try:
            return await super().read(client, identity)
        except NotFoundError:
            if self.row is None or self.row.exists:
                raise
            return self.row.guardrail

    def form_fields(self, context: FormContext, one: Guardrail | None) -> Iterator[Field]:
        """With what the rules leave; the name of a default guardrail as it is."""
        for each in form_fields(context, one):
            if each.name == "name" and self.row is not None and self.row.is_default:
                yield replace(each, fixed=(display_name(self.row), _FIXED_NAME))
            else:
                yield each

    def edit_form(
        self, one: Guardrail, context: FormContext, verb: Update | None = None
    ) -> FormSpec:
        """The form of an existing guardrail, or of a default one that its first change makes."""
        form = super().edit_form(one, context, verb)
        if self.row is None or not self.row.is_default:
            return form
        heading = "Edit" if self.row.exists else "Set up"
        return replace(form, title=f"{heading} guardrail {display_name(self.row)}")

    def check(self, request: Any, dialect: Dialect) -> Sequence[Problem]:
        """Check for fields that the dialect refuses, and for the deprecated switch."""
        return never_sent(request, dialect)

    def sent_by_gateway(self, one: Guardrail) -> dict[str, Any]:
        """Every field that came readable: a rule that an answer leaves out is null."""
        known = self.known(one)
        return {name: known[name] for name in known if name != "workspace_id" or name in one.raw}

    def plan_update(
        self,
        fresh: Guardrail,
        request: RequestModel,
        context: PlanContext,
        uses: Uses = (),
        *,
        verb: Update | None = None,
    ) -> Plan[Guardrail]:
        """One PATCH. ``fresh`` has an id; of a default one that is not made it is the row's."""
        row = self.row
        default = row.workspace if row is not None and row.is_default else None
        if default is not None and self._is_to_be_made(fresh):
            plan = self._plan_first_update(default, request, context)
        else:
            plan = super().plan_update(fresh, request, context, uses, verb=verb)
        fixed = default is not None and "name" in request.model_fields_set
        return replace(plan, obstacles=(_FIXED_NAME,)) if fixed else plan

    def _plan_first_update(
        self, workspace: Workspace, request: RequestModel, context: PlanContext
    ) -> Plan[Guardrail]:
        """The PATCH that makes a workspace's default guardrail, under the gateway's own name."""
        identity = identity_of(workspace.default_guardrail_id, "default guardrail")
        return Plan(
            action="guardrails.edit",
            title=f"Set up the default guardrail of workspace {_space(workspace)}",
            resource=self.resource,
            identity=identity,
            send=lambda client: self.service(client).update(identity, request),
            changes=self.fields.first_values(request, context),
            effects=(f"Applies immediately to all traffic of workspace {_space(workspace)}.",),
            warnings=tuple(self.fields.limit_warnings({}, request)),
            summary=request.body(),
        )

    def _put_back(
        self, fresh: Guardrail, request: RequestModel, context: PlanContext
    ) -> Undo[Guardrail] | None:
        undo = super()._put_back(fresh, request, context)
        if undo is None or self.row is None:
            return undo
        return lambda answer: partial(self._back_in_view, undo(answer))

    async def _back_in_view(
        self, way: UndoPlanner, client: GatewayClient, now: datetime
    ) -> Plan[Any]:
        """The way back, and whom it binds."""
        plan = await way(client, now)
        bound = await self._bound_by(client, plan.identity or "")
        return replace(plan, effects=(*plan.effects, *bound.uses))

    # Whom it binds now --------------------------------------------------------------------------

    async def _bound_by(self, client: GatewayClient, identity: str) -> BoundBy:
        """Read the assignments; those that cannot be read in time are None."""
        if self.row is None:
            return BoundBy(*await guardrail_bindings(client, identity))
        (keys, members), people = await asyncio.gather(
            guardrail_bindings(client, identity), people_names(client)
        )
        default = self.row.workspace if self.row.is_default else None
        return BoundBy(keys, members, default, people or {})

    async def _bound(self, client: GatewayClient, fresh: Guardrail, _at: PlanContext) -> BoundBy:
        return await self._bound_by(client, fresh.id or "")

    async def _bound_at_once(
        self, client: GatewayClient, fresh: Guardrail, at: PlanContext
    ) -> Uses:
        # The plan of a first change says itself what that binds.
        return () if self._is_to_be_made(fresh) else (await self._bound(client, fresh, at)).uses

    def _is_to_be_made(self, fresh: Guardrail) -> bool:
        return self.row is not None and not self.row.exists and fresh is self.row.guardrail


WRITES: Writes[Guardrail] = _GuardrailWrites(
    resource="guardrails",
    noun="guardrail",
    model=Guardrail,
    fields=FIELDS,
    identity=lambda guardrail: guardrail.id,
    of_row=lambda row: row.guardrail,
    service=lambda client: client.guardrails,
    feeds=(FEEDS, "workspaces"),
    create=Create(
        request=CreateGuardrailRequest,
        title=lambda request: f"Create guardrail {quoted(request.name)}",
        effects=_create_effects,
        always=("name", "workspace_id"),
        help="create a guardrail",
    ),
    update=_UPDATE,
    delete=Delete(effects=_delete_effects, kept=("name", "workspace_id")),
    implied=("limit_usd", *LISTS),
    by_row=True,
)
