"""The value sets of the contract.

Sets in requests are ``Literal`` types: other values are refused. Sets in responses are tuples of
the known values: unknown values are shown unchanged.
"""

from __future__ import annotations

from typing import Literal, get_args

GENERATION_ID = "X-Generation-Id"
"""The response header with the generation id, sent for every served model request."""

LimitReset = Literal["daily", "weekly", "monthly"]
"""Reset interval of a limit, at 00:00 UTC: each day, Monday, or first of the month."""

Region = Literal["global", "europe", "us"]
REGIONS: tuple[Region, ...] = ("global", "europe", "us")
"""Regions where models run and data may be processed."""

ProviderSort = Literal["price", "throughput", "latency", "exacto"]
"""The default sort order of providers in a workspace."""

INPUT_MODALITIES = ("text", "image", "file", "audio", "video")
OUTPUT_MODALITIES = (
    "text",
    "image",
    "embeddings",
    "audio",
    "video",
    "rerank",
    "decisions",
    "speech",
    "transcription",
)
END_TO_END_WORKLOADS = frozenset({"image_generation", "video_generation"})
"""Workloads whose latency is the time to the complete result, not to the first token."""

Quantization = Literal[
    "int4",
    "int8",
    "fp4",
    "mxfp4",
    "nvfp4",
    "fp6",
    "fp8",
    "mxfp8",
    "fp16",
    "bf16",
    "fp32",
    "unknown",
]
QUANTIZATIONS: tuple[str, ...] = get_args(Quantization)
SERVICE_TIERS = ("flex", "priority", "ultrafast")
TOOL_CHOICES = ("auto", "function", "none", "required")
SUPPORTED_PARAMETERS = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "top_a",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "max_tokens",
    "max_completion_tokens",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "prediction",
    "seed",
    "response_format",
    "structured_outputs",
    "stop",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "include_reasoning",
    "reasoning",
    "reasoning_effort",
    "web_search_options",
    "verbosity",
)
SERVER_TOOLS = tuple(
    f"service:{name}"
    for name in (
        "advisor",
        "apply_patch",
        "bash",
        "datetime",
        "experimental__search_models",
        "fusion",
        "image_generation",
        "shell",
        "subagent",
        "tool_search",
        "web_fetch",
        "web_search",
    )
)
"""Tools that the service runs, as named in a workspace's disabled_server_tools."""
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


DEFAULT_PAGE = 50
MAX_PAGE = 100
ACTIVITY_DAYS = 30
"""The number of completed UTC days for which the gateway keeps activity."""
BAD_PATTERN = "invalid_regex_pattern"
"""The gateway's error type for an invalid content filter pattern."""
KEYS_PAGE = 100
"""The fixed page size of GET /keys, which has no limit parameter."""
MODELS_PAGE = 500
MAX_MODELS_PAGE = 1000
