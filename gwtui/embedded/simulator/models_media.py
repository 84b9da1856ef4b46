"""Embeddings, rerank, decisions, pictures, film, speech and transcription."""

from __future__ import annotations

from gwtui.embedded.simulator.seeds import EndpointSeed, ModelSeed, price

VECTOR_3 = ModelSeed(
    id="tessera/vector-3",
    name="Tessera: Vector 3",
    created="2026-01-20",
    description="Text embeddings of 256 to 3,072 dimensions; shorten them without retraining.",
    context=8_192,
    outputs=("embeddings",),
    workloads=("embeddings",),
    endpoints=(
        EndpointSeed(provider="bitforge", price=price("0.02"), latency=95, requests=7400),
        EndpointSeed(
            provider="quasar", price=price("0.018", discount=0.5), latency=62, requests=5200
        ),
        EndpointSeed(provider="fjordcloud", price=price("0.025"), latency=140, requests=640),
    ),
)

EMBED_POLYGLOT = ModelSeed(
    id="larkspur/embed-polyglot",
    name="Larkspur: Embed Polyglot",
    created="2025-11-05",
    description="Embeddings for a hundred languages, trained on parallel text.",
    context=32_768,
    inputs=("text", "image"),
    outputs=("embeddings",),
    workloads=("embeddings",),
    endpoints=(
        EndpointSeed(
            provider="helioscope",
            price=price("0.06", image="0.0001"),
            latency=170,
            requests=410,
        ),
    ),
)

RANK_2 = ModelSeed(
    id="tessera/rank-2",
    name="Tessera: Rank 2",
    created="2026-01-20",
    description="Orders search results by relevance; one request ranks up to 1,000 passages.",
    context=32_768,
    outputs=("rerank",),
    workloads=("rerank",),
    endpoints=(
        EndpointSeed(provider="bitforge", price=price(request="0.002"), latency=210, requests=1500),
        EndpointSeed(
            provider="drumlin",
            price=price(request="0.0015"),
            latency=330,
            requests=26,
            condition="sparse",
        ),
    ),
)

GUARD = ModelSeed(
    id="osprey-labs/verdict-guard",
    name="Osprey Labs: Verdict Guard",
    created="2026-05-06",
    description="Decides whether a message may pass, with a reason code and a confidence.",
    context=65_536,
    inputs=("text", "image"),
    outputs=("decisions",),
    workloads=("decisions",),
    endpoints=(
        EndpointSeed(provider="cobalt-row", price=price("0.05", "0.05"), latency=75, requests=2900),
    ),
)

CANVAS_XL = ModelSeed(
    id="ampersand/canvas-xl",
    name="Ampersand: Canvas XL",
    created="2026-07-30",
    description="Pictures up to four megapixels, with legible lettering.",
    context=4_096,
    inputs=("text", "image"),
    outputs=("image",),
    workloads=("image_generation",),
    tokenizer="Media",
    parameters=("seed",),
    endpoints=(
        EndpointSeed(
            provider="ampersand",
            price=price(image_output="0.04"),
            latency=6400,
            requests=880,
            moderated=True,
        ),
        EndpointSeed(
            provider="lumenworks",
            price=price(image_output="0.038"),
            latency=8300,
            requests=360,
        ),
        EndpointSeed(
            provider="quasar",
            variant="turbo",
            price=price(image_output="0.055", discount=0.1),
            latency=2100,
            requests=520,
        ),
    ),
)

MOTION_1 = ModelSeed(
    id="ampersand/motion-1",
    name="Ampersand: Motion 1",
    created="2026-09-25",
    description="Clips of up to twelve seconds with sound, from a sentence or a first frame.",
    context=None,
    inputs=("text", "image"),
    outputs=("video",),
    workloads=("video_generation",),
    tokenizer="Media",
    parameters=("seed",),
    endpoints=(
        EndpointSeed(
            provider="ampersand",
            price=price(request="0.65"),
            latency=94_000,
            requests=48,
            condition="sparse",
            context=4_096,
            moderated=True,
        ),
        EndpointSeed(
            provider="lumenworks",
            price=price(request="0.58"),
            latency=131_000,
            requests=0,
            condition="idle",
            context=4_096,
        ),
    ),
)

LARKSONG = ModelSeed(
    id="larkspur/larksong",
    name="Larkspur: Larksong",
    created="2026-06-10",
    description="Natural speech in nineteen languages; reads numbers and abbreviations aright.",
    context=8_192,
    outputs=("speech",),
    workloads=("tts",),
    voices=("alba", "corin", "édith", "mirjam", "søren", "yuki"),
    endpoints=(
        EndpointSeed(
            provider="helioscope", price=price("0", audio_output="12"), latency=240, requests=1100
        ),
        EndpointSeed(
            provider="fjordcloud", price=price("0", audio_output="11"), latency=390, requests=170
        ),
    ),
)

CHORUS = ModelSeed(
    id="ampersand/chorus-clone",
    name="Ampersand: Chorus Clone",
    created="2026-10-02",
    description="Speaks in a voice that you give it as a few seconds of sound.",
    context=4_096,
    inputs=("text", "audio", "image"),
    outputs=("speech",),
    workloads=("tts",),
    voices=(),
    endpoints=(
        EndpointSeed(
            provider="ampersand",
            price=price("0", audio_output="28"),
            latency=620,
            requests=230,
            image_reference=True,
            audio_references=True,
            voice_cloning=True,
            moderated=True,
        ),
    ),
)

SCRIBE_2 = ModelSeed(
    id="helioscope/scribe-2",
    name="Helioscope: Scribe 2",
    created="2026-08-05",
    description="Transcribes meetings, names the speakers and marks what it did not hear.",
    context=448_000,
    inputs=("audio",),
    outputs=("transcription",),
    workloads=("stt",),
    endpoints=(
        EndpointSeed(
            provider="helioscope",
            price=price("0", audio="4.20"),
            latency=880,
            requests=640,
            diarization=True,
        ),
        EndpointSeed(
            provider="bitforge", price=price("0", audio="3.60"), latency=1300, requests=290
        ),
        EndpointSeed(
            provider="kestrel",
            variant="turbo",
            price=price("0", audio="6"),
            latency=310,
            requests=510,
            diarization=True,
        ),
    ),
)

MEDIA_MODELS = (
    VECTOR_3,
    EMBED_POLYGLOT,
    RANK_2,
    GUARD,
    CANVAS_XL,
    MOTION_1,
    LARKSONG,
    CHORUS,
    SCRIBE_2,
)
