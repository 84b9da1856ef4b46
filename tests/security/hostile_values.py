"""Answers of the gateway with a hostile text in every field."""

from __future__ import annotations

from typing import Any

from gwtui.contract.response import ResponseModel


def hostile_answer(model: type[ResponseModel], text: str) -> ResponseModel:
    """Every field the text, or a list of it, or null: whatever the field can be."""
    fields: dict[str, Any] = {}
    for name in model.model_fields:
        for value in (text, [text], None):
            fields[name] = value
            if getattr(model.model_validate({name: value}), name) is not None:
                break
    return model.model_validate(fields)
