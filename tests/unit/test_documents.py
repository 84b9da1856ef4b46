"""The documents are correct: links, anchors, paths, tables of keys, journeys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest

from counted_journeys import COUNTED
from manual_kit import DOCUMENTS, MANUAL, README, ROOT, mentioned, parts
from update_journeys import PAGE as JOURNEYS
from update_journeys import filled as filled_journeys
from update_key_reference import PAGE, documented_scopes, filled, scopes

ARCHITECTURE = ROOT / "docs" / "ARCHITECTURE.md"
_OTHER_SITE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_PATH = re.compile(r"(?:gwtui|styles|tests|docs|benchmarks)(?:/[\w./-]+)?")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    results: list[str] = []
    for before, heading in pairwise(parts(page)):
        if before.type == "heading_open":
            text = "".join(part.content for part in heading.children or ())
            results.append(re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-"))
    return {*results} | {f"{anchor}-{results.count(anchor) - 1}" for anchor in results}


def targets(page: Path) -> Iterator[tuple[Path, str]]:
    """Files and anchors that a page links to, without other sites."""
    for part in parts(page):
        link = str(part.attrs.get("href") or part.attrs.get("src") or "")
        if link and not _OTHER_SITE.match(link):
            path, _, anchor = unquote(link).partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


def missing(page: Path) -> list[str]:
    """Files, anchors and paths that a page names but that do not exist."""
    paths = (path for path in mentioned(page) if _PATH.fullmatch(path))
    return [
        *(path for path in paths if not (ROOT / path).exists()),
        *(
            f"{target}#{anchor}"
            for target, anchor in targets(page)
            if not target.exists() or (anchor and anchor not in anchors(target))
        ),
    ]


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_paths_of_a_page_exist(page: Path) -> None:
    assert missing(page) == []


def test_missing_links_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One `two`: three\n\n## Again\n\n## Again\n")
    page = tmp_path / "page.md"
    good = ("other.md", "other.md#one-two-three", "other.md#again-1", "#here", "https://x.example")
    bad = ("another.md", "other.md#four", "#there")
    page.write_text("# Here\n`gwtui/nowhere`" + "".join(f"![b]({link})" for link in (*good, *bad)))
    assert len(missing(page)) == len(bad) + 1


def test_every_page_is_reached_from_the_readme_and_every_package_from_the_map() -> None:
    reached = {README}
    while (
        more := {to for page in reached for to, _ in targets(page) if to.suffix == ".md"} - reached
    ):
        reached |= more
    assert set(MANUAL) <= reached
    packages = {f"gwtui/{init.parent.name}" for init in (ROOT / "gwtui").glob("*/__init__.py")}
    assert packages <= {*mentioned(ARCHITECTURE)}


def test_the_tables_of_keys_are_those_of_the_dashboard() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert sorted(documented_scopes(page)) == sorted(scopes())
    assert page == filled(page), "run: python tests/update_key_reference.py"


def test_the_journeys_are_those_that_are_typed_and_as_short_as_they_may_be() -> None:
    page = JOURNEYS.read_text(encoding="utf-8")
    assert page == filled_journeys(page), "run: python tests/update_journeys.py"
    for journey in COUNTED:
        assert 0 < journey.pressed <= journey.bound, journey.title
        # The effect of the steps is not visible unless the last one shows something.
        assert journey.steps[-1].shows, journey.title
