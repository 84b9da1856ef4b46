"""Going somewhere while something has just come up above: it stays, and nothing is torn away."""

from __future__ import annotations

from gwtui.ui.screens.dialogs import AskScreen
from harness import dashboard, harness, listing, notices, until


async def test_what_came_up_above_is_not_taken_away() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        keys = listing(app)
        question = AskScreen("Really?", "", safe="No", deliberate="Yes")
        answers: list[bool | None] = []
        app.push_screen(question, answers.append)
        await app.open_route("providers")
        await app.navigation.show_tab("models")
        assert not await app.navigation.back()
        await pilot.pause()
        assert app.screen is question
        assert app.navigation.screen is keys
        assert "Close the dialog first" in notices(app)
        await pilot.press("y")
        await until(pilot, lambda: answers == [True], "the answer")
        await app.open_route("providers")
        await until(pilot, lambda: listing(app).resource == "providers", "the place")
        assert len(app.screen_stack) == 1
