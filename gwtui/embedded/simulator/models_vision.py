"""Models that see or hear and answer in text, pictures or sound."""

from __future__ import annotations

from gwtui.embedded.simulator.seeds import (
    ANY_TOOL_CHOICE,
    LITERAL_TOOL_CHOICE,
    SAMPLING,
    STRUCTURED,
    TOOLS,
    EndpointSeed,
    ModelSeed,
    override,
    price,
)

_FULL = (*SAMPLING, *TOOLS, *STRUCTURED)

LENS_PRO = ModelSeed(
    id="meridian/lens-pro",
    name="Meridian: Lens Pro",
    created="2026-09-03",
    description="Reads charts, forms, drawings and whole PDF files; answers with references.",
    context=1_048_576,
    inputs=("text", "image", "file"),
    parameters=(*_FULL, "reasoning", "include_reasoning"),
    reasoning={"mandatory": False, "default_enabled": False, "supports_max_tokens": True},
    knowledge_cutoff="2026-04-30",
    endpoints=(
        EndpointSeed(
            provider="tidepool",
            price=price(
                "1.75",
                "10.50",
                image="0.0022",
                internal_reasoning="10.50",
                input_cache_read="0.175",
                input_cache_write="2.1875",
                overrides=(
                    override(above=200_000, prompt="3.50", completion="15.75"),
                    override(above=500_000, window=(800, 1800), prompt="5.25", completion="21"),
                ),
            ),
            latency=1250,
            throughput=84,
            requests=2700,
            max_output=65_536,
            caching=True,
            tool_choice=ANY_TOOL_CHOICE,
            native_tools={"web_search": "grounding_search", "web_fetch": "url_context"},
            moderated=True,
        ),
        EndpointSeed(
            provider="kestrel",
            price=price("1.75", "10.50", image="0.0022", discount=0.05),
            latency=1480,
            throughput=72,
            requests=850,
            max_output=32_768,
            tool_choice=ANY_TOOL_CHOICE,
        ),
        EndpointSeed(
            provider="lumenworks",
            price=price("1.90", "11.20", image="0.0025"),
            latency=1710,
            throughput=64,
            requests=270,
            context=524_288,
            max_output=32_768,
            tool_choice=LITERAL_TOOL_CHOICE,
        ),
    ),
)

LENS_FLASH = ModelSeed(
    id="meridian/lens-flash",
    name="Meridian: Lens Flash",
    created="2026-09-03",
    description="Pictures, sound and film in, text out, at a fraction of Lens Pro.",
    context=1_048_576,
    inputs=("text", "image", "file", "audio", "video"),
    parameters=_FULL,
    knowledge_cutoff="2026-04-30",
    endpoints=(
        EndpointSeed(
            provider="tidepool",
            price=price(
                "0.15",
                "0.90",
                image="0.0002",
                audio="0.50",
                input_audio_cache="0.05",
                input_cache_read="0.015",
            ),
            latency=430,
            throughput=188,
            requests=5900,
            max_output=65_536,
            caching=True,
            tool_choice=ANY_TOOL_CHOICE,
            native_tools={"web_search": "grounding_search"},
        ),
        EndpointSeed(
            provider="quasar",
            price=price("0.15", "0.90", image="0.0002", audio="0.60"),
            latency=520,
            throughput=160,
            requests=1800,
            max_output=32_768,
            tool_choice=ANY_TOOL_CHOICE,
        ),
    ),
)

ATLAS_VOICE = ModelSeed(
    id="northwind/atlas-voice",
    name="Northwind: Atlas Voice",
    created="2026-03-18",
    description="Speaks and listens in one model, for conversations on the telephone.",
    context=131_072,
    inputs=("text", "audio"),
    outputs=("text", "audio"),
    parameters=(*SAMPLING, "tools", "tool_choice"),
    voices=("aspen", "briar", "cedar", "juniper"),
    knowledge_cutoff="2025-10-31",
    endpoints=(
        EndpointSeed(
            provider="northwind",
            price=price("2", "8", audio="32", audio_output="64", input_audio_cache="0.4"),
            latency=360,
            throughput=90,
            requests=760,
            max_output=16_384,
            tool_choice=LITERAL_TOOL_CHOICE,
            moderated=True,
        ),
        EndpointSeed(
            provider="cobalt-row",
            price=price("2.20", "8.80", audio="35", audio_output="70"),
            latency=450,
            throughput=75,
            requests=16,
            condition="sparse",
            max_output=16_384,
        ),
    ),
)

LENS_PAINT = ModelSeed(
    id="meridian/lens-paint",
    name="Meridian: Lens Paint",
    created="2026-10-21",
    description="Talks about a picture and repaints it in the same conversation.",
    context=65_536,
    inputs=("text", "image"),
    outputs=("text", "image"),
    workloads=("text_generation", "image_generation"),
    parameters=SAMPLING,
    knowledge_cutoff="2026-04-30",
    endpoints=(
        EndpointSeed(
            provider="tidepool",
            price=price("0.30", "2.50", image="0.0004", image_output="0.039", image_token="30"),  # noqa: S106
            latency=2100,
            throughput=102,
            requests=940,
            max_output=32_768,
            moderated=True,
        ),
        EndpointSeed(
            provider="ampersand",
            price=price("0.35", "2.90", image="0.0004", image_output="0.036"),
            latency=2900,
            throughput=80,
            requests=210,
            max_output=16_384,
        ),
    ),
)

VISION_MODELS = (LENS_PRO, LENS_FLASH, ATLAS_VOICE, LENS_PAINT)
