"""Checks answers of a gateway by the served document, with a validator that is not ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import httpx
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from gwtui.embedded.routes import operations_at

DOCUMENT = "urn:gateway:openapi"
FORMATS = FormatChecker(formats=("uuid", "date"))
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\Z")


@FORMATS.checks("date-time")
def _is_utc_moment(value: object) -> bool:
    return not isinstance(value, str) or _TIME.match(value) is not None


@FORMATS.checks("uri-reference")
def _is_path(value: object) -> bool:
    return not isinstance(value, str) or value.startswith("/")


class Description:
    """The served document, and what is wrong with a value by it."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        resource = Resource.from_contents(document, default_specification=DRAFT202012)
        self._registry: Registry[Any] = Registry().with_resource(DOCUMENT, resource)

    def faults(self, value: Any, *path: str) -> list[str]:
        """The faults of a value by the schema at a path in the document."""
        pointer = "/".join(part.replace("~", "~0").replace("/", "~1") for part in path)
        validator = Draft202012Validator(
            {"$ref": f"{DOCUMENT}#/{pointer}"}, registry=self._registry, format_checker=FORMATS
        )
        return [f"{fault.json_path} {fault.message}" for fault in validator.iter_errors(value)]

    def answer_faults(self, route: str, response: httpx.Response) -> list[str]:
        """The faults of an answer at a path of the API."""
        answers = ("paths", route, response.request.method.lower(), "responses")
        content = ("content", "application/json", "schema")
        return self.faults(response.json(), *answers, str(response.status_code), *content)


class Witness:
    """Remembers the answers of a gateway, which the bench validates as they come."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.seen: set[tuple[str, int]] = set()
        """Operation identifier and status of every answer."""
        self.bodies: list[tuple[str, Any]] = []
        """Operation identifier and body of every success."""

    async def take(self, response: httpx.Response) -> None:
        """An event hook of httpx."""
        await response.aread()
        methods, _ = operations_at(response.request.url.path)
        operation = methods.get(response.request.method)
        if operation is not None:
            self.seen.add((operation.operation_id, response.status_code))
            if response.is_success:
                self.bodies.append((operation.operation_id, response.json()))
