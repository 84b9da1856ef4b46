"""Secrets are typed masked and leave no trace beside the request."""

from __future__ import annotations

import pytest
from narrow_form_kit import MADE, SECRET, Desk
from pydantic import SecretStr

from form_kit import until
from gwtui.client import errors
from gwtui.contract.byok import CreateByokRequest
from gwtui.crud.fields import Field
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Refused
from gwtui.ui.forms.secret import SecretEditor

CREDENTIAL = FormSpec(
    "New credential",
    CreateByokRequest,
    (
        Field("provider", "Provider", kind="text"),
        Field("key", "Key", kind="secret", placeholder="paste it"),
    ),
    "Store",
)


async def test_a_secret_is_masked_and_leaves_no_trace_beside_the_request() -> None:
    async with Desk(CREDENTIAL) as desk:
        await desk.press(*"vendor", "tab")
        await desk.paste(f" {SECRET}\n")
        assert "••••" in desk.shown()
        assert f"{len(SECRET)} characters, hidden" in desk.shown()
        for part in (SECRET, SECRET[:6], SECRET[-4:]):
            assert part not in desk.shown()
            assert part not in desk.app.export_screenshot()
        editor = desk.form.query_one(SecretEditor)
        await desk.press("ctrl+c", "ctrl+x", "ctrl+v")
        assert desk.app.clipboard == ""
        assert SECRET not in repr((editor, desk.form.state._typed))
        assert not editor.allow_select
        assert desk.form.unsaved
        assert (await desk.send()) == {"provider": "vendor", "key": "••••••••"}
    assert editor.value == "", "wiped with the form"


async def test_a_secret_is_typed_rubbed_out_and_cleared() -> None:
    async with Desk(CREDENTIAL) as desk:
        await desk.press("tab", *"abc ", "backspace", "backspace")
        assert desk.form.state.value("key") == SecretStr("ab")
        await desk.press("ctrl+u")
        assert "paste it" in desk.shown()
        assert not desk.form.state.changed


@pytest.mark.parametrize(
    ("pasted", "word"),
    [("two words", "space"), ("a\x1b[2Jb", "control"), ("schl\u00fcssel", "ASCII")],
)
async def test_what_looks_wrong_with_a_secret_is_said_without_showing_it(
    pasted: str, word: str
) -> None:
    async with Desk(CREDENTIAL) as desk:
        await desk.press("tab")
        await desk.paste(pasted)
        assert word in desk.shown()
        assert pasted not in desk.shown()


async def test_a_refused_secret_needs_not_be_typed_again() -> None:
    refused = Refused(errors.BadRequestError("provider: is unknown", status=400))
    async with Desk(CREDENTIAL, refused, MADE) as desk:
        await desk.press(*"vendr", "tab")
        await desk.paste(SECRET)
        await desk.press("ctrl+s")
        await until(desk.pilot, lambda: "is unknown" in desk.shown(), "the refusal")
        assert desk.form.state.value("key") == SecretStr(SECRET)
