"""The cache of names and ids for shell completion, without secrets.

Each profile has one private JSON file in the cache directory. If it is missing or damaged, nothing
is suggested.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from gwtui.domain.safe_text import safe_line
from gwtui.local.private_file import ensure_private

MOST = 2000
"""The maximum number of names per kind."""
IDENTIFIERS = " by id"
"""Suffix of a kind for its ids, which are stored separately from its names."""
_LONGEST = 200
_MOST_BYTES = 1024 * 1024
_VERSION = 1


def cache_file(cache: Path, profile: str) -> Path:
    """The path of the file of a profile."""
    return cache / f"names-{quote(profile, safe='')[:_LONGEST]}.json"


def read_names(path: Path) -> Mapping[str, list[str]]:
    """The cached names by kind, such as "keys"; empty if the file cannot be read."""
    try:
        with path.open("rb") as file:
            content = json.loads(file.read(_MOST_BYTES))
        names = content["names"] if content["v"] == _VERSION else {}
        return {
            str(kind): [name for name in listed if isinstance(name, str)]
            for kind, listed in names.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def write_names(path: Path, names: Mapping[str, Iterable[str | None]]) -> None:
    """Replace the cached names of these kinds. Never raises.

    Very long names and names that cannot be displayed are left out.
    """
    from gwtui.local.private_file import replace_file  # noqa: PLC0415 - who reads must be quick

    kept = {**read_names(path)}
    for kind, listed in names.items():
        plain = dict.fromkeys(name for name in listed if name and _is_plain(name))
        kept[kind] = list(plain)[:MOST]
    try:
        ensure_private(path.parent)
        replace_file(path, json.dumps({"v": _VERSION, "names": kept}).encode())
    except (OSError, ValueError):
        return


def _is_plain(name: str) -> bool:
    return len(name) <= _LONGEST and safe_line(name, _LONGEST + 1) == name
