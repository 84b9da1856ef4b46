"""The form of a test request, and the keys to send it with.

A key is known from this run, from the environment, or typed; test requests store no key. Bounds
come from the contract's request models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from gwtui.contract.chat import ChatRequest, Temperature, Text, TokenCount
from gwtui.contract.request import Problem, RequestModel, SecretText
from gwtui.contract.routing import ProviderSlugs
from gwtui.contract.scalars import Usd
from gwtui.crud import fields
from gwtui.crud.fields import Choices, Facts
from gwtui.crud.form import FieldGroup, FormSpec
from gwtui.crud.resource import Cell
from gwtui.domain.known_secrets import Secret
from gwtui.domain.money import usd
from gwtui.domain.safe_text import safe_line
from gwtui.local.tokens import TRY_KEY_VARIABLE
from gwtui.resources.session import TryMemory
from gwtui.resources.tries.plan import DEFAULT_MAX_COST, CapAdvice, key_hash

TYPED = "typed"
"""The id of the source for a key that is still to be typed."""
_KEY_NAME = 40


@dataclass(frozen=True, slots=True)
class KeySource:
    """An available key; ``label`` is safe to display, ``value`` is None for a key to be typed."""

    id: str
    label: str
    value: Secret | None = None

    @property
    def hash(self) -> str | None:
        """The hash that identifies the key at the gateway; None if there is no key yet."""
        return None if self.value is None else key_hash(self.value)


_TO_BE_TYPED = KeySource(TYPED, "type it here")


def key_sources(memory: TryMemory) -> tuple[KeySource, ...]:
    """Return all available keys, the newest first, then the source for a typed key."""
    return (*_at_hand(memory), _TO_BE_TYPED)


def new_key_sources(name: str, value: Secret) -> tuple[KeySource, ...]:
    """Return a newly created key and the source for a typed key."""
    return (KeySource("made", f"new key {safe_line(name, _KEY_NAME)}", value), _TO_BE_TYPED)


def _at_hand(memory: TryMemory) -> Iterator[KeySource]:
    if memory.typed is not None:
        yield KeySource("before", "the one typed before", memory.typed)
    if memory.given is not None:
        yield KeySource("environment", f"that of {TRY_KEY_VARIABLE}", memory.given)


def initial_source(sources: Sequence[KeySource], preselected: str | None) -> KeySource:
    """Return the initial source: the key with hash ``preselected``, or else the first one."""
    if preselected is None:
        return sources[0]
    return next((each for each in sources if each.hash == preselected), sources[-1])


DEFAULT_MAX_TOKENS = 512

IN_FORM = CapAdvice(
    "leave the field empty to send it all the same",
    "ask for fewer tokens, shorten the prompt, or raise the maximum",
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
    key_from: str = Field(TYPED, description="the key that the request is sent with")
    key: SecretText | None = Field(None, description="an inference key, for this run only")
    max_tokens: Annotated[TokenCount, BeforeValidator(_whole)] | None = Field(
        None, description="max output tokens; empty: the model's limit"
    )
    temperature: Temperature | None = Field(
        None, description="temperature, 0 to 2; higher is more random"
    )
    stream: bool = Field(True, description="show the answer as it arrives")
    max_cost: Usd | None = Field(
        None,
        description="send nothing that may cost more",
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


@dataclass(frozen=True, slots=True)
class TriedKey:
    """The hash and display name of the key whose row the form was opened on."""

    hash: str
    name: str


def try_form(
    sources: Sequence[KeySource],
    models: Choices,
    providers: Choices,
    initial: Mapping[str, Any],
    preselected: TriedKey | None = None,
) -> FormSpec:
    """Return the form; ``initial`` has values by field, ``preselected`` the selected key."""

    def check(request: TryForm) -> Sequence[Problem]:
        return missing_key_problems(sources, request.key_from, request.key)

    return FormSpec(
        title="Try a request",
        model=TryForm,
        fields=(
            FieldGroup(
                "Request",
                (
                    fields.Field(
                        "model", "Model", choices=models, placeholder="{form.choices} lists them"
                    ),
                    fields.Field(
                        "only",
                        "Providers",
                        choices=providers,
                        empty="any",
                        noun="providers",
                        free=True,
                    ),
                    fields.Field(
                        "prompt", "Prompt", kind="lines", placeholder="it is sent to a real model"
                    ),
                    fields.Field("system", "System prompt", kind="lines", placeholder="none"),
                ),
            ),
            FieldGroup("Key", key_fields(sources, preselected)),
            FieldGroup("Options", _LIMITS),
        ),
        submit="Send it",
        initial={
            "key_from": sources[0].id,
            "max_tokens": DEFAULT_MAX_TOKENS,
            "stream": True,
            "max_cost": DEFAULT_MAX_COST,
            **initial,
        },
        check=check,
    )


def key_fields(
    sources: Sequence[KeySource], preselected: TriedKey | None
) -> Sequence[fields.Field]:
    """Return the field ``key_from``, if there is a choice, and the field ``key``."""
    known = {source.id: source for source in sources}

    def about_source(value: str, _values: Mapping[str, Any], _facts: Facts) -> Cell | None:
        source = known[value].value
        return None if source is None else _whose(source, preselected)

    def about_key(value: Secret, values: Mapping[str, Any], _facts: Facts) -> Cell | None:
        chosen = known[values.get("key_from", TYPED)]
        if chosen.value is not None:
            return Cell(f"not used: {chosen.label} is", "warn")
        return _whose(value, preselected)

    value = fields.Field(
        "key", "Key value", kind="secret", placeholder="paste it here", preview=about_key
    )
    options = [(source.id, source.label) for source in sources]
    if len(options) == 1:
        return (value,)
    return (fields.Field("key_from", "Key", options=options, preview=about_source), value)


def missing_key_problems(
    sources: Sequence[KeySource], key_from: str, key: Secret | None
) -> list[Problem]:
    """Return a problem if the source needs a typed key and there is none."""
    at_hand = any(source.id == key_from and source.value is not None for source in sources)
    return [] if at_hand or key is not None else [Problem("key", "type or paste the inference key")]


def _whose(key: Secret, preselected: TriedKey | None) -> Cell | None:
    if preselected is None:
        return None
    if key_hash(key) == preselected.hash:
        return Cell(f"the value of key “{preselected.name}”", "good")
    return Cell(f"not the value of key “{preselected.name}”; sent anyway", "warn")


def _cap(value: Decimal | None, _values: Mapping[str, Any], _facts: Facts) -> Cell:
    if value is None:
        return Cell("no maximum", "warn")
    return Cell(f"nothing is sent that may cost more than {usd(value)}")


_LIMITS = (
    fields.Field("max_tokens", "Max output tokens"),
    fields.Field("temperature", "Temperature", placeholder="model default"),
    fields.Field("stream", "Stream"),
    fields.Field("max_cost", "Maximum cost", preview=_cap),
)
