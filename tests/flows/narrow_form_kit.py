"""A form at 80x24, the narrowest supported size, and helpers for its fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gwtui.client import errors
from gwtui.contract.guardrails import UpdateGuardrailRequest
from gwtui.crud.fields import Field, PickOption
from gwtui.crud.form import FormSpec

SECRET = "sk-provider-0123456789abcdef"


async def models() -> Sequence[PickOption]:
    return [PickOption(f"vendor-{n % 9}/model-{n}", note=f"Model {n}") for n in range(400)]


async def refuse() -> Sequence[PickOption]:
    raise errors.ServerError("the catalog is away", status=500)


def guardrail_form(field: Field, **initial: Any) -> FormSpec:
    """A guardrail update with one field."""
    values = {"name": "g", **initial}
    fields = (Field("name", "Name", kind="text"), field)
    return FormSpec("Edit", UpdateGuardrailRequest, fields, "Save", initial=values, partial=True)
