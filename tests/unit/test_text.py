"""Plain text in a number of cells."""

from __future__ import annotations

import pytest

from gwtui.ui.text import fit, is_id, shortened

UUID = "d4df0f3c-0c34-482a-82ce-094758731cca"


@pytest.mark.parametrize(
    "text",
    [
        UUID,
        "be667e34d489562801bc0bb7f38a6a24",
        "user_2f9Kd03mLq81xZ",
        "gen-1790000000-ab12cd34ef56",
    ],
)
def test_identities_lose_their_middle(text: str) -> None:
    assert is_id(text)
    short = fit(text, 13)
    assert len(short) == 13
    assert short == f"{text[:6]}…{text[-6:]}"
    assert fit(text, 60) == text.ljust(60)


@pytest.mark.parametrize(
    "text",
    ["checkout-fraud-screen", "osprey-labs/talon-moe-480b-a32b", "Default Workspace", "$1,999.08"],
)
def test_words_are_cut_at_the_end(text: str) -> None:
    assert not is_id(text)
    assert fit(text, 8) == f"{text[:7]}…"


@pytest.mark.parametrize("width", range(5))
def test_no_width_is_too_small(width: int) -> None:
    assert len(shortened(UUID, width)) == width
    assert len(fit(UUID, width)) == width
