"""Reads sample prompts for a guardrail, each with the expected result, from a TOML or JSON file.

    [[samples]]
    name = "email address"
    prompt = "Write to ana@example.com"
    expect = "redact"               # pass, flag, redact, block or no endpoint
    model = "northwind/atlas-large" # optional

The same in JSON: ``{"samples": [{"name": ..., "prompt": ..., "expect": ...}]}``.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from gwtui.contract.request import RequestModel, problems
from gwtui.domain.guardrail_effect import GuardrailOutcome
from gwtui.domain.safe_text import safe_line

MOST_SAMPLES = 200
_FIELD = re.compile(r"samples\.(\d+)\.?(.*)")


class SampleFileError(Exception):
    """The file is invalid; the message names the file, the sample and the problem."""


class GuardrailSample(RequestModel):
    """A prompt and its expected outcome. ``model`` overrides the model of the test."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = Field(description="what it shows")
    prompt: Annotated[str, Field(min_length=1, max_length=100_000)] = Field(
        description="what is sent", repr=False
    )
    expect: GuardrailOutcome = Field(description="what should happen")
    model: Annotated[str, Field(min_length=1)] | None = Field(None, description="author/slug")


class _SampleBook(RequestModel):
    samples: Annotated[list[GuardrailSample], Field(min_length=1, max_length=MOST_SAMPLES)]


def load_samples(path: Path) -> tuple[GuardrailSample, ...]:
    """Read the samples of a file; ``.json`` is JSON, anything else TOML.

    Raises SampleFileError.
    """
    try:
        text = path.read_text("utf-8")
        body = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        problem = (error.strerror or "cannot be read").lower()
    except UnicodeDecodeError:
        problem = "is not UTF-8 text"
    except tomllib.TOMLDecodeError as error:
        problem = f"is not valid TOML: {error}"
    except (ValueError, RecursionError):
        problem = "is not valid JSON"
    else:
        return tuple(_checked(path, body).samples)
    raise SampleFileError(f"{path}: {problem}")


def _checked(path: Path, body: object) -> _SampleBook:
    try:
        book = _SampleBook.model_validate(body)
    except ValidationError as error:
        first = problems(error)[0]
        match = _FIELD.fullmatch(first.field)
        where = f"sample {int(match[1]) + 1}: {match[2]}" if match else first.field
        problem = f"{path}: {where}: {first.message}" if where else f"{path}: {first.message}"
    else:
        names = [sample.name for sample in book.samples]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is None:
            return book
        problem = f"{path}: two samples are called {safe_line(twice, 80)!r}"
    raise SampleFileError(problem)
