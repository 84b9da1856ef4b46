"""The value sets of the contract.

Sets used in requests are ``Literal`` types: anything else is refused. Sets seen in answers are
plain tuples of the known values: an unknown one is shown as it came.
"""

from __future__ import annotations

from typing import Literal, get_args

GENERATION_ID = "X-Generation-Id"
"""The header of an answer that names the generation; on every served request to a model."""

LimitReset = Literal["daily", "weekly", "monthly"]
"""When a spending limit starts over: 00:00 UTC each day, each Monday, each first of the month."""

Region = Literal["global", "europe", "us"]
REGIONS: tuple[Region, ...] = ("global", "europe", "us")
"""Regions in which models are served and data may be processed."""

ProviderSort = Literal["price", "throughput", "latency", "exacto"]
"""Default order of providers in a workspace."""

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
"""Workloads whose latency is the full time; every other one reports time to first token."""

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
"""Tools that the service itself runs, as a workspace's disabled_server_tools names them."""
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


DEFAULT_PAGE = 50
MAX_PAGE = 100
ACTIVITY_DAYS = 30
"""Completed UTC days that the gateway keeps the activity of."""
BAD_PATTERN = "invalid_regex_pattern"
"""The gateway's name for a pattern of a content filter that it refuses."""
KEYS_PAGE = 100
"""GET /keys has no limit parameter: a page is always this long."""
MODELS_PAGE = 500
MAX_MODELS_PAGE = 1000
