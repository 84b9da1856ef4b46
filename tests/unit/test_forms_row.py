"""A label of any length leaves a gap before its editor and is there as a whole."""

from __future__ import annotations

import pytest

from form_kit import FACTS, HostApp, ScriptedSubmit
from gwtui.contract.organization import UpdateOrganizationSettingsRequest
from gwtui.crud.fields import Field
from gwtui.crud.form import FormSpec
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.row import FieldRow

FIELD = "is_filtered_model_catalog_enabled"


@pytest.mark.parametrize(
    "label",
    ["Name", "Twenty one characters", "Filtered model catalog", "x" * 50, "Modell 目録 " * 6],
)
async def test_a_label_never_touches_its_editor(label: str) -> None:
    spec = FormSpec(
        title="Settings",
        model=UpdateOrganizationSettingsRequest,
        fields=(Field(FIELD, label, kind="switch"),),
        submit="Send",
        partial=True,
    )
    app = HostApp(FormScreen(spec, FACTS, ScriptedSubmit()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        row = app.screen.query_one(f"#field-{FIELD}", FieldRow)
        editor, top = row.editor.region, row.content_region.y
        assert editor.y == top
        drawn = [
            "".join(segment.text for segment in strip.crop(row.content_region.x, editor.x))
            for strip in app.screen._compositor.render_strips()[top : top + len(row.label_lines)]
        ]
        assert all(line.endswith(" ") for line in drawn)
        assert "".join("".join(drawn).split()) == "".join(label.split())
