"""The child process of ``pattern_sandbox``: tries regular expressions on a text.

Run as a script, with the standard library only. Reads one JSON object from standard input
({"patterns": [...], "sample": "..."}), writes a line to say that it begins, then one JSON line per
pattern: [[start, end], ...] of its matches, empty ones included, or null where it does not
compile.
"""

from __future__ import annotations

import json
import re
import sys
import warnings

_CPU_SECONDS = 5
_MEMORY = 1 << 30
_MOST_MATCHES = 2_000


def limit_itself() -> None:
    """Should the parent be gone, this process does not go on for ever."""
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def spans(pattern: str, sample: str) -> list[tuple[int, int]] | None:
    """Where a pattern matches; None when it is no pattern."""
    warnings.simplefilter("ignore")
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return None
    found = []
    for match in compiled.finditer(sample):
        found.append(match.span())
        if len(found) >= _MOST_MATCHES:
            break
    return found


def main() -> None:
    """Answer one question and end."""
    limit_itself()
    asked = json.load(sys.stdin)
    sys.stdout.write("null\n")
    sys.stdout.flush()
    for pattern in asked["patterns"]:
        sys.stdout.write(json.dumps(spans(pattern, asked["sample"])) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
