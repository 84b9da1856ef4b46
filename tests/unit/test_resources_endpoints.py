"""Endpoints as rows: identities, and that each list is of one model."""

from __future__ import annotations

import pytest

from gwtui.crud.resource import Scope
from gwtui.resources.models.endpoints import ENDPOINTS
from gwtui.watch.feeds.models import rows_of as endpoint_rows
from resource_samples import endpoint_body, model_endpoints


def test_twins_get_identities_of_their_own() -> None:
    body = endpoint_body()
    rows = endpoint_rows(model_endpoints(body, body, endpoint_body(service_tier="flex")))
    assert len({found.identity for found in rows}) == 3


def test_endpoints_are_always_those_of_a_model() -> None:
    with pytest.raises(ValueError, match="one model"):
        ENDPOINTS.feed(None, Scope())  # type: ignore[arg-type]
