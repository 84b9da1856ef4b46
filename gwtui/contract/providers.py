"""Providers of the catalog: extended contract section 7."""

from __future__ import annotations

from gwtui.contract.response import ResponseModel, wire


class Provider(ResponseModel):
    """A company that serves endpoints."""

    name: str | None = wire("display name")
    slug: str | None = wire("provider identifier")
    privacy_policy_url: str | None = wire("link", nullable=True)
    terms_of_service_url: str | None = wire("link", nullable=True, optional=True)
    status_page_url: str | None = wire("link", nullable=True, optional=True)
    headquarters: str | None = wire("ISO country", nullable=True, optional=True)
    datacenters: list[str] | None = wire("ISO countries", nullable=True, optional=True)
