"""Every declared resource, and valid values of its fields.

``SAMPLES`` names the resource that tests change, where it matters. ``VALUES`` has values for the
few fields whose valid values do not follow from their type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from gwtui.contract.dialects import GENERIC
from gwtui.contract.request import RequestModel, field_rules
from gwtui.contract.values import SERVER_TOOLS
from gwtui.crud.fields import Field
from gwtui.crud.form import kind_of
from gwtui.crud.resource import ResourceSpec
from gwtui.crud.writes import Writes, declared_writes
from gwtui.resources.registry import SPECS as SPECS_OF_ALL
from writes_kit import FaultWorld

if TYPE_CHECKING:
    from action_handlers_kit import ActionHarness

SAMPLES: Mapping[str, Callable[[FaultWorld], str | None]] = {
    "keys": lambda world: world.key.hash,
    "workspaces": lambda world: world.workspace.id,
    "guardrails": lambda world: world.guardrail.id,
    "byok": lambda world: world.credential.id,
    "organization": lambda world: world.settings.id or "settings",
}
"""Resource -> the identity of its sample; without an entry, the sample is the first in its list."""

VALUES: Mapping[str, Callable[[ActionHarness], list[Any]]] = {
    "slug": lambda _desk: ["another-slug", "a-third-slug"],
    "provider": lambda _desk: ["northwind"],
    "workspace_id": lambda desk: desk.spaces,
    "disabled_server_tools": lambda _desk: [[tool] for tool in sorted(SERVER_TOOLS)[:2]],
    "allowed_api_key_hashes": lambda desk: [[desk.world.key.hash], [desk.world.other_key.hash]],
    "content_filters": lambda _desk: [
        [{"pattern": "gw-[0-9]+", "action": "redact", "label": "[KEY]"}],
        [{"pattern": "secret", "action": "block"}],
    ],
    "content_filter_builtins": lambda _desk: [
        [{"slug": "email", "action": "redact"}],
        [{"slug": "phone", "action": "block"}],
    ],
}
"""Field -> valid values that do not follow from its type."""


def declared_specs() -> Iterator[ResourceSpec[Any]]:
    """All resources that declare writes, in the dashboard or on the command line."""
    yield from (spec for spec in SPECS_OF_ALL.values() if spec.writes is not None)


SPECS = {declared_writes(spec).resource: spec for spec in declared_specs()}
"""Declarations by the resource that they write."""


def sample_of(resource: str, world: FaultWorld) -> str:
    """The identity of a resource that may be changed and deleted."""
    if resource in SAMPLES:
        return SAMPLES[resource](world) or ""
    return writes_of(resource).identity(world.samples[resource]) or ""


def writes_of(resource: str) -> Writes[Any]:
    """The declared writes, in the dialect of the gateway."""
    return declared_writes(SPECS[resource]).for_row(None, GENERIC)


def values_of(model: type[RequestModel], name: str, desk: ActionHarness) -> list[Any]:
    """Valid values of a field, two if possible. Raises AssertionError if none are known."""
    rules = field_rules(model)[name]
    if name in VALUES:
        return VALUES[name](desk)
    if rules.is_secret:
        return [SecretStr("sk-another-key-abcdefghij")]
    if rules.choices:
        return list(rules.choices)
    if rules.entry_choices:
        return [[choice] for choice in rules.entry_choices]
    kind = kind_of(Field(name, name), rules)
    result = _BY_KIND.get(kind)
    assert result, f"no value is known for the field {name}: give one in VALUES of {__name__}"
    return result


_BY_KIND: Mapping[str, list[Any]] = {
    "switch": [True, False],
    "three_way": [True, False],
    "usd": [Decimal("0.25"), Decimal("0.5")],
    "number": [Decimal("0.25"), Decimal("0.5")],
    "text": ["something", "something else"],
    "integers": [[3], [4, 5]],
    "pick": [["some/one"], ["another/one", "a/third"]],
}
"""Kind of editor -> two values."""


def verbs_of(writes: Writes[Any]) -> list[str]:
    """The verbs that a declaration allows, by the names of the dashboard's actions."""
    verbs: dict[str, Any] = {"create": writes.create, "edit": writes.update}
    verbs |= {verb.action: verb for verb in writes.further}
    verbs |= {"toggle": writes.switch, "delete": writes.delete}
    return [name for name, verb in verbs.items() if verb is not None]
