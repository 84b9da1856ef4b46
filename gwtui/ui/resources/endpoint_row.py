"""What a list of endpoints holds."""

from __future__ import annotations

from dataclasses import dataclass

from gwtui.contract.models import Endpoint


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """One endpoint and the model it serves.

    ``keyless`` says that it was read without an API key: the gateway then hides throughput and
    workload figures (contract "Authentication", 4).
    """

    endpoint: Endpoint
    identity: str
    model_id: str | None = None
    model_name: str | None = None
    keyless: bool = False

    @property
    def title(self) -> str | None:
        """The provider, with the variant its tag names: one provider may serve a model twice."""
        endpoint = self.endpoint
        name = endpoint.provider_name or endpoint.name
        _, slash, variant = (endpoint.tag or "").partition("/")
        return f"{name} /{variant}" if name and slash else name or endpoint.tag

    def why_no(self, field: str) -> str:
        """Why a figure of the last 30 minutes is not there, for the person who misses it."""
        gap = self.endpoint.gaps.get(field)
        if gap is not None:
            return gap
        needs_key = field in {"throughput_last_30m", "perf_last_30m_by_workload"}
        if self.keyless and needs_key:
            return "hidden without an API key"
        if field == "throughput_last_30m" and self.endpoint.latency_last_30m is not None:
            return "no token throughput"
        return "no traffic"
