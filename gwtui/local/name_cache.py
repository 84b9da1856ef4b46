"""The cache of names and identifiers that a shell completes; it holds no secret.

One JSON file for each profile, in the cache directory, readable by its owner alone. It may be
missing, old or damaged: then fewer words are offered, and nothing else happens.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from gwtui.domain.safe_text import safe_line
from gwtui.local.private_file import ensure_private

MOST = 2000
"""Names that are kept of each kind."""
IDENTIFIERS = " by id"
"""Behind a kind: its identifiers, which are many and long."""
_LONGEST = 200
_MOST_BYTES = 1024 * 1024
_VERSION = 1


def cache_file(cache: Path, profile: str) -> Path:
    """The file with the names of a profile, by the name of the profile."""
    return cache / f"names-{quote(profile, safe='')[:_LONGEST]}.json"


def read_names(path: Path) -> Mapping[str, list[str]]:
    """The names by what they are of, such as "keys"; empty where there is nothing to read."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(_MOST_BYTES))
        names = found["names"] if found["v"] == _VERSION else {}
        return {
            str(kind): [one for one in listed if isinstance(one, str)]
            for kind, listed in names.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def keep_names(path: Path, names: Mapping[str, Iterable[str | None]]) -> None:
    """Put these names in the place of those that were kept of the same kinds. Never raises.

    A name that a terminal could not show as it is, or that is far too long, is left out.
    """
    from gwtui.local.private_file import replace_file  # noqa: PLC0415 - who reads must be quick

    kept = {**read_names(path)}
    for kind, listed in names.items():
        plain = dict.fromkeys(one for one in listed if one and _is_plain(one))
        kept[kind] = list(plain)[:MOST]
    try:
        ensure_private(path.parent)
        replace_file(path, json.dumps({"v": _VERSION, "names": kept}).encode())
    except (OSError, ValueError):
        return


def _is_plain(name: str) -> bool:
    return len(name) <= _LONGEST and safe_line(name, _LONGEST + 1) == name
