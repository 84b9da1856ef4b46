"""A gateway whose catalog is the ordinary one many times over.

    python tests/large_catalog.py 80 gateway serve --port 0 --database large.sqlite3

is ``gwtui gateway serve ...`` with 80 times as many endpoints of every model.
"""

from __future__ import annotations

import sys
from typing import Any

from gwtui.cli.main import main
from gwtui.embedded.simulator import catalog


def multiply(times: int) -> None:
    """Let every provider of a model offer it so many times, each time at another tag."""
    entries = catalog.entries

    def multiplied(kind: str) -> list[dict[str, Any]]:
        found = entries(kind)
        if kind != "model":
            return found
        return [
            {
                **model,
                "endpoint": [
                    {**offer, "variant": f"{offer.get('variant', 'r')}{number}"}
                    for offer in model["endpoint"]
                    for number in range(times)
                ],
            }
            for model in found
        ]

    catalog.entries = multiplied


if __name__ == "__main__":
    multiply(int(sys.argv[1]))
    raise SystemExit(main(sys.argv[2:]))
