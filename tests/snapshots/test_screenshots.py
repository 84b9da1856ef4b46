"""The pictures of the README equal what the application draws now."""

from __future__ import annotations

import re

import pytest

from board_kit import filled_once
from screenshots_kit import FOLDER, ROOT, SHOTS, Shot, draw


@pytest.mark.parametrize("shot", SHOTS, ids=lambda shot: shot.name)
async def test_a_screenshot_is_current(
    shot: Shot, tmp_path_factory: pytest.TempPathFactory
) -> None:
    svg = await draw(shot, lambda data: filled_once(tmp_path_factory).copy_to(data))
    stored = (FOLDER / f"{shot.name}.svg").read_text(encoding="utf-8")
    assert stored == svg, "run: python tests/update_screenshots.py"


def test_screenshots_and_readme_links_match() -> None:
    names = {shot.name for shot in SHOTS}
    assert {path.stem for path in FOLDER.glob("*.svg")} == names
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\(screenshots/([\w-]+)\.svg\)", readme)
    assert linked
    assert set(linked) <= names


def test_no_screenshot_contains_a_url() -> None:
    for path in FOLDER.glob("*.svg"):
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "://" not in text
