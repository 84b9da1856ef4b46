"""Paging facts of the list operations: extended contract section 0 and section 1."""

from __future__ import annotations

DEFAULT_PAGE = 50
MAX_PAGE = 100
KEYS_PAGE = 100
"""GET /keys has no limit parameter: a page is always this long."""
MODELS_PAGE = 500
MAX_MODELS_PAGE = 1000
