"""The documents hold together: links, anchors, pictures, paths, tables of keys."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest

from counted_journeys import COUNTED
from manual_kit import DOCUMENTS, MANUAL, README, ROOT, prose
from update_journeys import PAGE as JOURNEYS
from update_journeys import filled as filled_journeys
from update_key_reference import PAGE, filled, named, scopes

ARCHITECTURE = ROOT / "docs" / "ARCHITECTURE.md"
MOST_BYTES = 8 * 1024
_LINK = re.compile(r"!?\[(?:[^\]\\]|\\.)*\]\(([^)\s]+)\)")
_TARGET = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_PATH = re.compile(r"`((?:gwtui|styles|tests|docs|benchmarks)(?:/[\w./-]+)?)`")
_NAMED_IN = re.compile(r"`(\w+)`\s+in\s+`(gwtui/[\w/]+\.py)`")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *$", prose(page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        number, unique = 0, anchor
        while unique in found:
            number += 1
            unique = f"{anchor}-{number}"
        found.add(unique)
    return found


def links(page: Path) -> list[str]:
    """Where a page leads to, other sites left out."""
    return [link for link in _LINK.findall(prose(page)) if not _TARGET.match(link)]


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    found = []
    for link in links(page):
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        inside = target.is_relative_to(ROOT.resolve()) or target.is_relative_to(page.parent)
        if not inside or not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One `two`: three\n\n## Again\n\n## Again\n")
    page = tmp_path / "page.md"
    good = ("other.md", "other.md#one-two-three", "other.md#again-1", "#here", "https://x.example")
    bad = ("another.md", "other.md#four", "#there")
    page.write_text("# Here\n" + "".join(f"[a]({link}) ![b]({link})\n" for link in (*good, *bad)))
    assert sorted(set(broken(page))) == sorted(bad)


def test_every_page_is_reached_from_the_readme() -> None:
    reached, left = {README}, [README]
    while left:
        page = left.pop()
        for link in links(page):
            target = (page.parent / unquote(link).partition("#")[0]).resolve()
            if target.suffix == ".md" and target not in reached:
                reached.add(target)
                left.append(target)
    assert set(MANUAL) <= reached


def test_the_readme_is_short() -> None:
    assert README.stat().st_size <= MOST_BYTES


def test_what_people_get_is_in_the_source_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packed = project["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    assert {"docs", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"} <= set(packed)
    assert project["project"]["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in changes or f"## [{project['project']['version']}]" in changes


def paths_named(page: Path) -> set[str]:
    """The files and folders of this project that a page names."""
    return set(_PATH.findall(prose(page)))


def test_every_path_in_the_architecture_exists() -> None:
    named_paths = paths_named(ARCHITECTURE)
    assert len(named_paths) > 30
    assert [path for path in sorted(named_paths) if not (ROOT / path).exists()] == []


def test_every_name_in_the_architecture_is_where_it_says() -> None:
    pairs = _NAMED_IN.findall(prose(ARCHITECTURE))
    assert pairs
    lost = [
        (name, path)
        for name, path in pairs
        if not re.search(rf"\b{name}\b", (ROOT / path).read_text(encoding="utf-8"))
    ]
    assert lost == []


def test_every_package_is_on_the_map() -> None:
    packages = {f"gwtui/{init.parent.name}" for init in (ROOT / "gwtui").glob("*/__init__.py")}
    assert packages <= paths_named(ARCHITECTURE)


def test_the_tables_of_keys_are_those_of_the_dashboard() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert sorted(named(page)) == sorted(scopes())
    assert page == filled(page), "run: python tests/update_key_reference.py"


def test_the_journeys_are_those_that_are_typed_and_as_short_as_they_may_be() -> None:
    page = JOURNEYS.read_text(encoding="utf-8")
    assert page == filled_journeys(page), "run: python tests/update_journeys.py"
    assert len(COUNTED) >= 5
    for journey in COUNTED:
        assert 0 < journey.pressed <= journey.bound, journey.title
        # What a step does was not seen unless the last one shows something.
        assert journey.steps[-1].shows, journey.title
