"""Dialects: the same contract with other field names, translated when JSON is read or written.

All other code uses the names of the reference dialect (``generic``). Section 12 of the extended
contract lists the names of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

DialectName = Literal["generic", "openrouter"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The field names, prefixes and restrictions of one service."""

    name: DialectName
    renames: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Reference field name -> wire field name."""
    tool_prefix: str = "service:"
    """Prefix of server-tool names in native_tools."""
    key_prefix: str = "gw-v1-"
    """Prefix of the service's API keys."""
    management_key_prefix: str = "gw-mgmt-v1-"
    vendors: tuple[str, str, str] = ("vendor A", "vendor B", "vendor C")
    """Names of the three vendors that have a ZDR switch."""
    flags_every_filter: bool = False
    """Whether every content filter may have the action "flag".

    If False, only the builtin filter against prompt injection may; the others block or redact.
    """
    cap_needs_interval: bool = False
    """Whether a guardrail needs limit_usd and reset_interval together."""

    header_prefix: str = "X-Service-"
    """Prefix of the service's own headers.

    The generic value is an assumption, like the prefix of server tools.
    """
    keep_alive: str = "PROCESSING"
    """The comment that the service sends in a stream while no data is ready."""

    absent_fields: Mapping[str, frozenset[str]] = field(default_factory=dict, hash=False)
    """The fields that the service does not support, by the name of the contract model."""

    @property
    def metadata_header(self) -> str:
        """Name of the request header that turns ``service_metadata`` on or off."""
        return f"{self.header_prefix}Metadata"

    def to_wire(self, value: Any) -> Any:
        """Translate a body from reference names to the service's names."""
        return _translate(value, self.renames, (_REFERENCE_TOOLS, self.tool_prefix))

    def from_wire(self, value: Any) -> Any:
        """Translate a body from the service's names to reference names.

        Unknown names stay unchanged.
        """
        back = {wire: ours for ours, wire in self.renames.items()}
        return _translate(value, back, (self.tool_prefix, _REFERENCE_TOOLS))


_REFERENCE_TOOLS = "service:"
_TOOL_FIELDS = frozenset({"disabled_server_tools", "type"})
"""Fields whose values may be names of server tools."""
_OPAQUE = frozenset({"json_schema", "logit_bias", "options", "parameters", "trace"})
"""Fields whose value is the user's own content, in which no name is translated."""


def _translate(
    value: Any, names: Mapping[str, str], prefixes: tuple[str, str], field_name: str = ""
) -> Any:
    if field_name in _OPAQUE or not (names or prefixes[0] != prefixes[1]):
        return value
    if isinstance(value, dict):
        return {
            _tool(names.get(key, key), prefixes): _translate(item, names, prefixes, key)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_translate(item, names, prefixes, field_name) for item in value]
    if isinstance(value, str) and field_name in _TOOL_FIELDS:
        return _tool(value, prefixes)
    return value


def _tool(name: str, prefixes: tuple[str, str]) -> str:
    old, new = prefixes
    return new + name[len(old) :] if name.startswith(old) else name


_NEWER_GUARDRAIL_FIELDS = frozenset(
    {
        "enforce_zdr_xai",
        "enable_free_model_publication",
        "enable_free_model_training",
        "enable_paid_model_training",
        "allow_safety_retention_google",
        "allow_safety_retention_other",
        "allowed_data_regions",
    }
)

GENERIC = Dialect(
    "generic",
    absent_fields=dict.fromkeys(
        ("Guardrail", "CreateGuardrailRequest", "UpdateGuardrailRequest"), _NEWER_GUARDRAIL_FIELDS
    ),
)
OPENROUTER = Dialect(
    "openrouter",
    renames={
        "enforce_zdr_vendor_a": "enforce_zdr_anthropic",
        "enforce_zdr_vendor_b": "enforce_zdr_openai",
        "enforce_zdr_vendor_c": "enforce_zdr_google",
        "service_metadata": "openrouter_metadata",
    },
    tool_prefix="openrouter:",
    header_prefix="X-OpenRouter-",
    keep_alive="OPENROUTER PROCESSING",
    key_prefix="sk-or-v1-",
    management_key_prefix="sk-or-v1-",
    vendors=("Anthropic", "OpenAI", "Google"),
    flags_every_filter=True,
    cap_needs_interval=True,
)
DIALECTS: Mapping[str, Dialect] = {dialect.name: dialect for dialect in (GENERIC, OPENROUTER)}
