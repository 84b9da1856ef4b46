"""Write the manual's page of journeys from their declaration.

Run ``python tests/update_journeys.py`` after a journey was added or changed.
"""

from __future__ import annotations

import re
from pathlib import Path

from counted_journeys import COUNTED, CountedJourney, Step

PAGE = Path(__file__).resolve().parent.parent / "docs" / "journeys.md"
_PART = re.compile(r"<!-- journeys -->\n.*<!-- end -->", re.DOTALL)


def filled(page: str) -> str:
    """The page with the current journeys."""
    overview = ["| task | key presses | maximum |", "| --- | --- | --- |", *map(_row, COUNTED)]
    journeys = "\n\n".join(map(_section, COUNTED))
    created = "\n".join(["<!-- journeys -->", *overview, "", journeys, "<!-- end -->"])
    return _PART.sub(lambda _: created, page)


def _row(journey: CountedJourney) -> str:
    anchor = re.sub(r"[^\w\- ]", "", journey.title.lower()).replace(" ", "-")
    return f"| [{journey.title}](#{anchor}) | {journey.pressed} | {journey.bound} |"


def _section(journey: CountedJourney) -> str:
    lines = [f"## {journey.title}", "", "| keys | |", "| --- | --- |"]
    lines += [f"| {_keys(step)} | {step.does} |" for step in journey.steps]
    beside = " and ".join(f"“{text}”" for text in journey.texts)
    return "\n".join(
        [*lines, "", f"{journey.pressed} key presses{beside and f' and the text {beside}'}."]
    )


def _keys(step: Step) -> str:
    return " ".join(
        f"“{stroke.text}”" if stroke.is_text else f"`{stroke.text}`" for stroke in step.strokes
    )


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
