"""Files of sample prompts: errors are reported with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from gwtui.local.guardrail_samples import SampleFileError, load_samples


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("samples = 3", "samples: must be a list"),
        ("", "samples: is required"),
        ("[[samples]]\nname = 'x'\nprompt = 'y'\nexpect = 'maybe'", "sample 1: expect: must be"),
        ("[[samples]]\nname = 'x'\nprompt = ''\nexpect = 'pass'", "sample 1: prompt: must not"),
        ("[[samples]]\nname = 'x'\nprompt = 'y'\nexpect = 'pass'\nx = 1", "sample 1: x: is not"),
        ("[[samples]]\nname = 'x'\nprompt = 'y'\nexpect = 'pass'\n" * 2, "two samples are called"),
        ("[[samples]", "samples.toml: is not valid TOML"),
    ],
)
def test_an_invalid_file_names_the_faulty_entry(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "samples.toml"
    path.write_text(text)
    with pytest.raises(SampleFileError) as caught:
        load_samples(path)
    assert message in str(caught.value)


def test_an_unreadable_file_names_the_reason(tmp_path: Path) -> None:
    with pytest.raises(SampleFileError, match="no such file"):
        load_samples(tmp_path / "missing.toml")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(SampleFileError, match="is not valid JSON"):
        load_samples(tmp_path / "bad.json")
    (tmp_path / "odd.toml").write_bytes(b"\xff")
    with pytest.raises(SampleFileError, match="is not UTF-8"):
        load_samples(tmp_path / "odd.toml")
