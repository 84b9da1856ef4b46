"""The providers of the catalog: invented companies with the gaps that real entries have."""

from __future__ import annotations

from typing import Any


def _provider(
    name: str,
    slug: str,
    headquarters: str | None,
    datacenters: list[str] | None,
    *,
    policies: bool = True,
    status_page: bool = True,
) -> dict[str, Any]:
    site = f"https://{slug}.example"
    return {
        "name": name,
        "slug": slug,
        "privacy_policy_url": f"{site}/legal/privacy" if policies else None,
        "terms_of_service_url": f"{site}/legal/terms" if policies else None,
        "status_page_url": f"https://status.{slug}.example" if status_page else None,
        "headquarters": headquarters,
        "datacenters": datacenters,
    }


PROVIDERS: tuple[dict[str, Any], ...] = (
    _provider("Ampersand", "ampersand", "NL", ["NL", "DE"]),
    _provider("Bitforge", "bitforge", "DE", ["DE", "FI"], status_page=False),
    _provider("Cobalt Row", "cobalt-row", "CA", ["CA", "US"]),
    _provider("Drumlin", "drumlin", "IE", None, status_page=False),
    _provider("Fjordcloud", "fjordcloud", "NO", ["NO", "SE"]),
    _provider("Helioscope", "helioscope", "FR", ["FR"]),
    _provider("Kestrel Inference", "kestrel", "GB", ["GB", "US"]),
    _provider("Lumenworks", "lumenworks", "JP", ["JP", "SG"]),
    _provider("Northwind", "northwind", "US", ["US", "IE", "JP"]),
    _provider("Paperboat", "paperboat", None, None, policies=False, status_page=False),
    _provider("Quasar Compute", "quasar", "US", ["US"]),
    _provider("Tidepool AI", "tidepool", "US", ["US", "DE", "SG"]),
)
