"""The size of long tests: a small sample by default, everything with ``GWTUI_FULL=1``."""

from __future__ import annotations

import os

FULL = os.environ.get("GWTUI_FULL") == "1"
SEED = int(os.environ.get("GWTUI_SEED", "1"))
"""The seed of random walks and bursts."""
