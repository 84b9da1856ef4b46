"""The embedding model: hashed n-grams, so that texts with the same words and stems lie close.

Every word, every pair of words and every run of three or four letters adds to a place that its hash
gives. Vectors have length 1: their dot product is their nearness.
"""

from __future__ import annotations

import base64
import math
import re
import struct
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise

DIMENSIONS = 256
MAX_DIMENSIONS = 4096

_WORD = re.compile(r"\w+")
_WORD_WEIGHT, _PAIR_WEIGHT, _LETTERS_WEIGHT = 1.0, 0.5, 0.35


def vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """The vector of a text, of length 1."""
    sums = [0.0] * dimensions
    for feature, weight in _features(text.casefold()):
        bits = int.from_bytes(blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest())
        sums[(bits >> 1) % dimensions] += weight if bits & 1 else -weight
    length = math.sqrt(sum(value * value for value in sums))
    if not length:
        # Nothing to go by: all such texts are the same.
        return [1.0, *[0.0] * (dimensions - 1)]
    return [value / length for value in sums]


def base64_floats(values: Sequence[float]) -> str:
    """The values as float32, little-endian, in base64."""
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode("ascii")


def _features(text: str) -> Iterator[tuple[str, float]]:
    words = _WORD.findall(text)
    for word in words:
        yield f"w:{word}", _WORD_WEIGHT
        padded = f"^{word}$"
        for length in (3, 4):
            for start in range(len(padded) - length + 1):
                yield f"l:{padded[start : start + length]}", _LETTERS_WEIGHT
    for first, second in pairwise(words):
        yield f"p:{first} {second}", _PAIR_WEIGHT
