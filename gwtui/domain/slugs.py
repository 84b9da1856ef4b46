"""Slugs from names: contract "POST /workspaces"."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 50
"""Characters of a slug; the contract's limit."""

_SPECIAL = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "þ": "th", "œ": "oe"})


def slug_of(name: str) -> str:
    """A slug that suits a name: "Data Pipelines (EU)" -> "data-pipelines-eu".

    Empty when nothing of the name can stand in a slug.
    """
    folded = unicodedata.normalize("NFKD", name.lower().translate(_SPECIAL))
    plain = "".join(char for char in folded if not unicodedata.combining(char))
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return slug[:LONGEST].strip("-")
