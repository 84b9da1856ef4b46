"""The form of a test request, and the keys to send it with.

A key is known from this run, from the environment, or typed; test requests store no key. Bounds
come from the contract's request models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_core import PydanticCustomError

from gwtui.contract.chat import ChatRequest, Temperature, Text, TokenCount
from gwtui.contract.request import Problem, RequestModel, SecretText
from gwtui.contract.routing import ProviderSlugs
from gwtui.contract.scalars import Usd
from gwtui.crud import fields
from gwtui.crud.fields import Choices, PreviewContext
from gwtui.crud.form import FormSpec
from gwtui.crud.resource import Cell
from gwtui.domain.money import usd
from gwtui.local.tokens import TRY_KEY_VARIABLE
from gwtui.resources.session import TryMemory
from gwtui.resources.tries.plan import DEFAULT_MAX_COST, CapAdvice, key_hash


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A key that need not be typed; ``label`` says where it is from and is safe to display."""

    label: str
    value: SecretStr


@dataclass(frozen=True, slots=True)
class SelectedKey:
    """The hash and display name of the key whose row the form was opened on."""

    hash: str
    name: str


def find_known_key(memory: TryMemory, preselected: SelectedKey | None) -> KnownKey | None:
    """Return the value of the selected key; without a selected key, the newest known value.

    None if no such value is known in this run.
    """
    for label, value in (
        ("the one typed before", memory.typed),
        (f"that of {TRY_KEY_VARIABLE}", memory.given),
    ):
        if value is not None and (preselected is None or key_hash(value) == preselected.hash):
            return KnownKey(label, value)
    return None


DEFAULT_MAX_TOKENS = 512

IN_FORM = CapAdvice(
    "leave the field empty to send it anyway",
    "ask for fewer tokens, shorten the prompt, or raise the cost limit",
)


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "must not be blank")
    return text


def _whole(value: Any) -> Any:
    whole = isinstance(value, Decimal) and value == value.to_integral_value()
    return int(value) if whole else value


class TryForm(RequestModel):
    """The form model of a test request."""

    model: Text = Field(description="author/slug")
    only: ProviderSlugs | None = Field(None, description="providers that may serve the request")
    prompt: Annotated[Text, AfterValidator(_not_blank)] = Field(
        description="the user prompt", repr=False
    )
    system: str | None = Field(None, description="the system prompt", repr=False)
    key: SecretText | None = Field(None, description="an inference key, for this run only")
    max_tokens: Annotated[TokenCount, BeforeValidator(_whole)] | None = Field(
        None, description="max output tokens; empty: the model's limit"
    )
    temperature: Temperature | None = Field(
        None, description="temperature, 0 to 2; higher is more random"
    )
    stream: bool = Field(True, description="show the response as it arrives")
    max_cost: Usd | None = Field(
        None,
        description="send nothing that may cost more, in USD",
        json_schema_extra={"x-unit": "USD"},
    )

    def chat_request(self) -> ChatRequest:
        """Return the request to send. Raises ValidationError."""
        messages: list[Any] = [{"role": "system", "content": self.system}] if self.system else []
        messages.append({"role": "user", "content": self.prompt})
        given = {
            "provider": {"only": self.only} if self.only else None,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
        }
        body: dict[str, Any] = {"model": self.model, "messages": messages}
        body |= {name: value for name, value in given.items() if value is not None}
        return ChatRequest.model_validate(body)


KEPT = ("model", "only", "prompt", "system", "max_tokens", "temperature", "stream", "max_cost")
"""Fields that are restored when the form opens again; the key is kept elsewhere."""


def try_form(
    known_key: KnownKey | None,
    models: Choices,
    providers: Choices,
    initial: Mapping[str, Any],
    preselected: SelectedKey | None = None,
) -> FormSpec:
    """Return the form; ``initial`` has values by field.

    If the user leaves the key empty, ``known_key`` is used. ``preselected`` is the key whose row
    was selected; the form tells whether a typed value is the value of that key.
    """

    def check(request: TryForm) -> Sequence[Problem]:
        known = known_key is not None or request.key is not None
        return [] if known else [Problem("key", "type or paste the inference key")]

    return FormSpec(
        title="Try a request",
        model=TryForm,
        fields=(
            *(replace(field, group="Request") for field in _request_fields(models, providers)),
            replace(_key_field(known_key, preselected), group="Key"),
            *(replace(field, group="Options") for field in _LIMITS),
        ),
        submit="Send it",
        initial={
            "max_tokens": DEFAULT_MAX_TOKENS,
            "stream": True,
            "max_cost": DEFAULT_MAX_COST,
            **initial,
        },
        check=check,
    )


def _request_fields(models: Choices, providers: Choices) -> tuple[fields.Field, ...]:
    return (
        fields.Field("model", "Model", choices=models, placeholder="{form.choices} lists them"),
        fields.Field(
            "only", "Providers", choices=providers, empty="any", noun="providers", free=True
        ),
        fields.Field("prompt", "Prompt", kind="lines", placeholder="it is sent to a real model"),
        fields.Field("system", "System prompt", kind="lines", placeholder="none"),
    )


def _key_field(known_key: KnownKey | None, preselected: SelectedKey | None) -> fields.Field:
    def whose(key: SecretStr, _values: Mapping[str, Any], _context: PreviewContext) -> Cell | None:
        if preselected is None:
            return None
        if key_hash(key) == preselected.hash:
            return Cell(f"the value of key “{preselected.name}”", "good")
        return Cell(f"not the value of key “{preselected.name}”; sent anyway", "warn")

    placeholder = "paste it here" if known_key is None else f"empty: {known_key.label}"
    return fields.Field("key", "Key value", kind="secret", placeholder=placeholder, preview=whose)


def _cap(value: Decimal | None, _values: Mapping[str, Any], _context: PreviewContext) -> Cell:
    if value is None:
        return Cell("no maximum", "warn")
    return Cell(f"nothing is sent that may cost more than {usd(value)}")


_LIMITS = (
    fields.Field("max_tokens", "Max output tokens"),
    fields.Field("temperature", "Temperature", placeholder="model default"),
    fields.Field("stream", "Stream"),
    fields.Field("max_cost", "Cost limit", preview=_cap),
)
