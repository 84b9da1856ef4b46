"""Reasoning and coding models, mixtures of experts, and a preview that nobody uses yet."""

from __future__ import annotations

from gwtui.embedded.simulator.seeds import (
    ANY_TOOL_CHOICE,
    LITERAL_TOOL_CHOICE,
    OPEN_SAMPLING,
    PENALTIES,
    REASONING,
    SAMPLING,
    STRUCTURED,
    TOOLS,
    EndpointSeed,
    ModelSeed,
    override,
    price,
)

_THINKING = ("max_tokens", "stop", "seed", *REASONING, *TOOLS, *STRUCTURED)

ATLAS_DEEP = ModelSeed(
    id="northwind/atlas-deep",
    name="Northwind: Atlas Deep",
    created="2026-10-07",
    description=(
        "Thinks before it answers: mathematics, planning, long investigations. Its thinking is "
        "billed as internal reasoning tokens."
    ),
    context=400_000,
    parameters=(*_THINKING, "max_completion_tokens", "verbosity"),
    reasoning={
        "mandatory": True,
        "default_effort": "medium",
        "default_enabled": True,
        "supported_efforts": ["low", "medium", "high", "xhigh"],
        "supports_max_tokens": True,
    },
    knowledge_cutoff="2026-05-31",
    endpoints=(
        EndpointSeed(
            provider="northwind",
            price=price(
                "6",
                "30",
                internal_reasoning="30",
                input_cache_read="0.6",
                input_cache_write="7.5",
                web_search="0.01",
            ),
            latency=7800,
            throughput=58,
            requests=1400,
            max_output=128_000,
            max_prompt=272_000,
            caching=True,
            tool_choice=ANY_TOOL_CHOICE,
            native_tools={
                "web_search": "web_search_20260401",
                "shell": "shell_20260905",
                "apply_patch": "apply_patch_v2",
            },
            moderated=True,
        ),
        EndpointSeed(
            provider="northwind",
            variant="flex",
            tier="flex",
            price=price("3", "15", internal_reasoning="15", input_cache_read="0.3"),
            latency=21_000,
            throughput=31,
            requests=520,
            max_output=128_000,
            max_prompt=272_000,
            caching=True,
            tool_choice=ANY_TOOL_CHOICE,
            moderated=True,
        ),
        EndpointSeed(
            provider="tidepool",
            price=price("6.60", "33", internal_reasoning="33"),
            latency=9100,
            throughput=49,
            requests=260,
            max_output=64_000,
            tool_choice=LITERAL_TOOL_CHOICE,
        ),
        EndpointSeed(
            provider="kestrel",
            variant="ultrafast",
            tier="ultrafast",
            price=price("14", "68", internal_reasoning="68"),
            latency=2300,
            throughput=310,
            requests=420,
            max_output=32_000,
            context=200_000,
            tool_choice=ANY_TOOL_CHOICE,
        ),
    ),
)

PONDER_32B = ModelSeed(
    id="osprey-labs/ponder-32b",
    name="Osprey Labs: Ponder 32B",
    created="2026-06-24",
    description=(
        "Open weights with a visible chain of thought. One provider sells its idle hours: cheaper "
        "at night and on weekends, dearer for long prompts by day."
    ),
    context=163_840,
    instruct="chatml",
    parameters=(*SAMPLING, *OPEN_SAMPLING, *REASONING, "tools"),
    defaults={"temperature": 0.6, "top_p": 0.95, "top_k": 20},
    reasoning={"mandatory": False, "default_enabled": True, "supports_max_tokens": False},
    hugging_face_id="osprey-labs/ponder-32b",
    knowledge_cutoff="2025-12-31",
    endpoints=(
        EndpointSeed(
            provider="bitforge",
            variant="fp8",
            quantization="fp8",
            price=price(
                "0.45",
                "1.80",
                input_cache_read="0.09",
                overrides=(
                    override(window=(1630, 30), prompt="0.28", completion="1.10"),
                    override(days=("saturday", "sunday"), prompt="0.25", completion="1"),
                    override(
                        above=64_000,
                        window=(700, 1630),
                        days=("monday", "tuesday", "wednesday", "thursday", "friday"),
                        prompt="0.70",
                        completion="2.40",
                        input_cache_read="0.14",
                    ),
                ),
            ),
            latency=1900,
            throughput=88,
            requests=1700,
            max_output=32_768,
            caching=True,
            tool_choice=LITERAL_TOOL_CHOICE,
        ),
        EndpointSeed(
            provider="quasar",
            variant="bf16",
            quantization="bf16",
            price=price("0.55", "2.20"),
            latency=980,
            throughput=236,
            requests=2300,
            max_output=32_768,
            tool_choice=ANY_TOOL_CHOICE,
        ),
        EndpointSeed(
            provider="drumlin",
            variant="mxfp4",
            quantization="mxfp4",
            price=price("0.30", "1.20", discount=0.2),
            latency=2700,
            throughput=57,
            requests=22,
            condition="sparse",
            context=65_536,
            max_output=16_384,
        ),
    ),
)

CORONA_CODE = ModelSeed(
    id="helioscope/corona-code",
    name="Helioscope: Corona Code",
    created="2026-07-15",
    description=(
        "Completes, edits and reviews code; fill-in-the-middle and predicted output. Cheaper "
        "between 23:00 and 05:30 UTC."
    ),
    context=262_144,
    parameters=(*SAMPLING, *PENALTIES, *TOOLS, *STRUCTURED, "prediction"),
    knowledge_cutoff="2026-02-28",
    endpoints=(
        EndpointSeed(
            provider="helioscope",
            price=price(
                "0.90",
                "3.60",
                input_cache_read="0.09",
                overrides=(
                    override(
                        window=(2300, 530),
                        prompt="0.54",
                        completion="2.16",
                        input_cache_read="0.05",
                    ),
                ),
            ),
            latency=380,
            throughput=133,
            requests=3600,
            max_output=65_536,
            caching=True,
            tool_choice=ANY_TOOL_CHOICE,
        ),
        EndpointSeed(
            provider="cobalt-row",
            variant="fp8",
            quantization="fp8",
            price=price("0.80", "3.20"),
            latency=540,
            throughput=101,
            requests=1100,
            max_output=32_768,
            tool_choice=ANY_TOOL_CHOICE,
        ),
        EndpointSeed(
            provider="fjordcloud",
            quantization="unknown",
            price=price("0.85", "3.40"),
            latency=610,
            throughput=83,
            requests=480,
            max_output=32_768,
            tool_choice=LITERAL_TOOL_CHOICE,
        ),
    ),
)

TALON = ModelSeed(
    id="osprey-labs/talon-moe-480b-a32b-instruct-long-context-2026-05",
    name="Osprey Labs: Talon MoE 480B A32B Instruct Long Context (May 2026 refresh)",
    created="2026-05-28",
    description=(
        "A mixture of 160 experts of which six answer each token. The refresh of May 2026 trains "
        "on whole repositories, contracts and transcripts up to two million tokens, keeps tables "
        "intact across chunks, cites the passages it relies on, and refuses less often than its "
        "predecessor where a question only sounds dangerous. Because so few parameters are active "
        "it costs about as much as a dense model of forty billion. Known weaknesses: arithmetic "
        "on more than twelve digits, right-to-left layout in Markdown tables, and a habit of "
        "thanking the reader."
    ),
    context=2_097_152,
    parameters=(*SAMPLING, *PENALTIES, *OPEN_SAMPLING, *TOOLS, "response_format"),
    hugging_face_id="osprey-labs/Talon-MoE-480B-A32B-Instruct-LC-2605",
    knowledge_cutoff="2026-01-31",
    endpoints=(
        EndpointSeed(
            provider="quasar",
            variant="fp8",
            quantization="fp8",
            price=price(
                "0.70",
                "2.80",
                input_cache_read="0.07",
                overrides=(
                    override(above=128_000, prompt="1.05", completion="3.50"),
                    override(
                        above=512_000, prompt="2.10", completion="5.60", input_cache_read="0.21"
                    ),
                ),
            ),
            latency=730,
            throughput=96,
            requests=2000,
            max_output=65_536,
            caching=True,
            tool_choice=ANY_TOOL_CHOICE,
        ),
        EndpointSeed(
            provider="lumenworks",
            variant="mxfp8",
            quantization="mxfp8",
            price=price("0.64", "2.56"),
            latency=1040,
            throughput=69,
            requests=340,
            context=524_288,
            max_output=32_768,
            tool_choice=LITERAL_TOOL_CHOICE,
        ),
    ),
)

HATCHLING = ModelSeed(
    id="osprey-labs/hatchling-preview",
    name="Osprey Labs: Hatchling (preview)",
    created="2026-11-12",
    description="An early look at what comes after Ponder. Few have tried it.",
    context=131_072,
    parameters=(*SAMPLING, *REASONING),
    endpoints=(
        EndpointSeed(
            provider="bitforge",
            variant="bf16",
            quantization="bf16",
            price=price("0.80", "3.20"),
            latency=1600,
            throughput=70,
            requests=0,
            condition="idle",
            max_output=16_384,
        ),
    ),
)

REASONING_MODELS = (ATLAS_DEEP, PONDER_32B, CORONA_CODE, TALON, HATCHLING)
