"""Pictures of screens: what the terminal shows, no font from a host, no secret in sight."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from pydantic import SecretStr
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Input, Static

from gwtui.domain.known_secrets import remember
from gwtui.ui.forms.secret import SecretEditor, SecretScreen
from gwtui.ui.terminal.app import TerminalApp
from gwtui.ui.terminal.screenshot import SecretInSightError, picture_of

KNOWN = SecretStr("k9-Xq7w2Lm4Zr8Tb6Vn1Pd3")
_TEXT = re.compile(r"<text[^>]*>(.*?)</text>")
_FILLED = re.compile(r'<rect fill="(#\w+)"')


class Plain(TerminalApp):
    """Shows a line and takes one."""

    def __init__(self, line: str = "", typed: str = "", widget: Any = None) -> None:
        super().__init__()
        self._line, self._typed, self._widget = line, typed, widget

    def compose(self) -> ComposeResult:
        yield Static(self._line, markup=False)
        yield Input(self._typed)
        if self._widget is not None:
            yield self._widget()


async def refused(screen: Screen[Any]) -> str:
    with pytest.raises(SecretInSightError) as error:
        await picture_of(screen, "A title")
    return str(error.value)


async def test_it_is_what_the_terminal_shows() -> None:
    app = Plain("<b>&\u00fc \u4e16\u754c @font-face {x}</b>", "typed")
    async with app.run_test(size=(40, 10), notifications=True) as pilot:
        app.notify("told")
        await pilot.pause()
        picture = await picture_of(app.screen, "A title")
        assert len(app.screen.query("Toast")) == 0
        svg, own = picture.svg, app.export_screenshot(title="A title")
    assert picture.text.splitlines()[0] == "<b>&\u00fc \u4e16\u754c @font-face {x}</b>"
    assert "typed" in picture.text
    assert "told" not in picture.text
    assert len(picture.text.splitlines()) == 10
    assert [html.unescape(one) for one in _TEXT.findall(svg)] == [
        html.unescape(one) for one in _TEXT.findall(own)
    ]
    assert _FILLED.findall(svg) == _FILLED.findall(own)
    assert re.findall(r"https?://[^\s\"]+", svg) == ["http://www.w3.org/2000/svg"]


async def test_there_is_none_of_a_screen_with_a_secret_in_sight() -> None:
    remember(KNOWN)
    value = KNOWN.get_secret_value()
    folded = f"\u2502 {value[:10]} \u2502\n\u2502 {value[10:]} \u2502"
    for line in (f"a {value} b", folded):
        app = Plain(line)
        async with app.run_test(size=(40, 10)):
            assert "this program uses" in await refused(app.screen)
    app = Plain(typed="Bearer abcdef0123456789", widget=lambda: SecretEditor("none"))
    async with app.run_test(size=(40, 10)) as pilot:
        app.query_one(SecretEditor).focus()
        assert "may be a key" in await refused(app.screen), "nothing is typed there yet"
        await pilot.press("x")
        assert "typed into it" in await refused(app.screen)
        await app.query_one(SecretEditor).remove()
        assert "may be a key" in await refused(app.screen)
        await app.push_screen(SecretScreen("ci", SecretStr("gw-v1-0123456789abcdef")))
        await pilot.pause()
        assert "shows a secret" in await refused(app.screen)
