"""What a shown figure can mean and what it can be sorted by; every list and verdict uses these."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal

Tone = Literal["plain", "muted", "good", "warn", "bad", "accent"]
"""The meaning of a figure; themes decide its colour. Never the only carrier of the meaning."""

SortValue = str | int | float | Decimal | datetime | bool | None
"""None is unknown: it sorts last in both directions. Percentages are in points: 42.5 is 42.5%."""

ValueKind = Literal["text", "number", "moment", "flag"]
"""What the values of a column are; each of them may be unknown."""

UNKNOWN = "—"
"""How an unknown figure is shown; never as 0."""
