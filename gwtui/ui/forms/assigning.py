"""One form that assigns one guardrail to many keys or members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gwtui.client.errors import NotSentError
from gwtui.contract.guardrails import AssignKeysRequest, AssignMembersRequest, Guardrail
from gwtui.contract.keys import ApiKey
from gwtui.contract.organization import OrganizationMember
from gwtui.contract.request import RequestModel
from gwtui.crud.form import Facts, FormSpec, MultiPickField, PickOption
from gwtui.crud.plan import Outcome, Plan, Refused
from gwtui.crud.resource import Cell
from gwtui.crud.text import Names, several
from gwtui.domain.safe_text import safe_line
from gwtui.resources.assignments.plans import plan_assign_keys, plan_assign_members
from gwtui.resources.guardrails.view import display_name, shown_name
from gwtui.resources.keys.resource import fetch_keys
from gwtui.resources.organization.resource import shown_person
from gwtui.ui.actions.context import ActionContext
from gwtui.ui.actions.writing import confirm, execute
from gwtui.watch.feeds.guardrails import Bindings, GuardrailRow, bindings_feed

_NAME = 60
_LOST = "They may have been assigned or not: look at the list before you try again."


class Assigning:
    """One form that assigns one guardrail; knows what each key and member holds now."""

    def __init__(self, context: ActionContext, row: GuardrailRow, fresh: Guardrail) -> None:
        self._context = context
        self._row = row
        self._fresh = fresh
        self._bindings = Bindings()
        self._keys: dict[str, ApiKey] = {}
        self._people: Mapping[str, OrganizationMember] = {}

    async def read(self) -> None:
        """What holds which guardrail now. Never raises: what cannot be read is said in the plan."""
        state = await bindings_feed(self._context.app.hub).refresh()
        self._bindings = state.value or Bindings()

    @property
    def _names(self) -> Names:
        """Guardrails by name."""
        guardrails = self._bindings.guardrails or {}
        return {identity: display_name(row) for identity, row in guardrails.items()}

    def _held(self, guardrail: str | None) -> str:
        """What a key or member holds, as the note beside it."""
        if guardrail is None:
            return "no guardrail"
        if guardrail == self._fresh.id:
            return "has it already"
        return f"has {safe_line(self._names.get(guardrail) or guardrail, _NAME)}"

    # Keys -----------------------------------------------------------------------------------

    def key_form(self) -> FormSpec:
        """Pick keys."""
        return self._form("key_hashes", "Keys", "keys", AssignKeysRequest)

    async def _key_choices(self) -> Sequence[PickOption]:
        """Every key, those of the guardrail's own workspace first. Raises GatewayError."""
        rows = await fetch_keys(self._context.app.gateway, None)
        self._keys = {row.key.hash: row.key for row in rows if row.key.hash}
        own, held = self._fresh.workspace_id, self._bindings.by_key()
        ordered = sorted(
            (row for row in rows if row.key.hash),
            key=lambda row: (row.key.workspace_id != own, (row.key.name or "").casefold()),
        )
        return [
            PickOption(
                row.key.hash or "",
                safe_line(row.key.name or row.key.label or row.key.hash or "", _NAME),
                f"{self._held(held.get(row.identity))} · {safe_line(row.workspace_name or '', 30)}",
            )
            for row in ordered
        ]

    async def submit_keys(self, request: AssignKeysRequest) -> Outcome[int] | None:
        """Show what is assigned and replaced, then assign."""
        hashes = request.key_hashes
        strange = [each for each in hashes if each not in self._keys]
        if strange:
            return _stranger("key", strange)
        keys = [self._keys[each] for each in hashes]
        plan = plan_assign_keys(self._fresh, keys, self._bindings.keys, self._names)
        return await self._confirm(plan)

    # Members --------------------------------------------------------------------------------

    def member_form(self) -> FormSpec:
        """Pick members."""
        return self._form("member_user_ids", "Members", "members", AssignMembersRequest)

    async def _member_choices(self) -> Sequence[PickOption]:
        """Everybody in the organization. Raises GatewayError."""
        people = (await self._context.app.gateway.organization.members()).items
        self._people = {person.id: person for person in people if person.id}
        held = self._bindings.by_member()
        return [
            PickOption(
                user,
                shown_person(person, user),
                f"{self._held(held.get(user))} · {safe_line(person.email or '', 40)}",
            )
            for user, person in self._people.items()
        ]

    async def submit_members(self, request: AssignMembersRequest) -> Outcome[int] | None:
        """Show what is assigned and replaced, then assign."""
        users = request.member_user_ids
        strange = [each for each in users if each not in self._people]
        if strange:
            return _stranger("member", strange)
        people = {user: shown_person(person, user) for user, person in self._people.items()}
        plan = plan_assign_members(self._fresh, users, self._bindings.members, self._names, people)
        return await self._confirm(plan)

    # Both -----------------------------------------------------------------------------------

    def _form(self, field: str, label: str, noun: str, model: type[RequestModel]) -> FormSpec:
        keys = model is AssignKeysRequest
        return FormSpec(
            title=f"Assign guardrail {shown_name(self._row)} to {noun}",
            model=model,
            fields=(
                MultiPickField(
                    field,
                    label,
                    help=f"each of the {noun} holds one guardrail: assigning replaces it",
                    choices=self._key_choices if keys else self._member_choices,
                    empty="none yet",
                    chosen="assign to",
                    noun=noun,
                    preview=self._preview,
                ),
            ),
            submit="Review",
            unknown_help=_LOST,
        )

    def _preview(
        self, value: Sequence[str] | None, _values: Mapping[str, object], _facts: Facts
    ) -> Cell | None:
        """Whose guardrail is replaced, while picking."""
        held = {**self._bindings.by_key(), **self._bindings.by_member()}
        replaced = [
            f"{safe_line(self._names.get(held[each]) or held[each], 30)} on {self._called(each)}"
            for each in value or ()
            if each in held and held[each] != self._fresh.id
        ]
        return Cell(f"replaces {several(replaced, 3)}", "warn") if replaced else None

    def _called(self, identity: str) -> str:
        key = self._keys.get(identity)
        if key is not None:
            return safe_line(key.name or key.label or identity, 30)
        return shown_person(self._people.get(identity), identity)

    async def _confirm(self, plan: Plan[int]) -> Outcome[int] | None:
        consent = await confirm(self._context, plan, "Assign")
        return None if consent is None else await execute(self._context, consent)


def _stranger(noun: str, unknown: Sequence[str]) -> Refused:
    who = safe_line(", ".join(unknown), 200)
    return Refused(NotSentError(f"Not a {noun} of this account, as far as is known: {who}."))
