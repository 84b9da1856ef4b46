"""The line of a screen in which a path such as keys/NAME is typed."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from textual.screen import Screen

if TYPE_CHECKING:
    from gwtui.ui.actions.context import ActionContext, DashboardApp
    from gwtui.ui.goto import PathNames
    from gwtui.ui.widgets.prompt import GotoPrompt


class PathLine(Screen[None]):
    """Has a line for paths from the first ``path_prompt`` on, above its status line."""

    @property
    @abstractmethod
    def gwtui(self) -> DashboardApp:
        """The app."""

    @abstractmethod
    def capture(self) -> ActionContext:
        """What actions act on now."""

    @abstractmethod
    def focus_body(self) -> None:
        """Put the focus where it belongs."""

    async def path_prompt(self) -> GotoPrompt:
        """Where a path is typed; made when it is first asked for."""
        from gwtui.ui.widgets.prompt import GotoPrompt  # noqa: PLC0415 - at the first use

        for prompt in self.query(GotoPrompt):
            return prompt
        prompt = GotoPrompt(id="goto")
        await self.mount(prompt, before="#status")
        return prompt

    async def on_goto_prompt_entered(self, message: GotoPrompt.Entered) -> None:
        """Open the route that was typed."""
        from gwtui.ui.goto import follow  # noqa: PLC0415 - at the first use

        self.focus_body()
        await follow(self.capture(), message.route)

    def on_goto_prompt_typed(self, message: GotoPrompt.Typed) -> None:
        """Read the names that may complete what is typed."""
        from gwtui.ui.goto import PathNames  # noqa: PLC0415 - at the first use

        names = PathNames(self.gwtui)
        if names.lacks(message.text):
            self.run_worker(self._learn_names(names, message.text), group="names", exclusive=True)

    async def _learn_names(self, names: PathNames, text: str) -> None:
        await names.learn(text)
        (await self.path_prompt()).renew_ghost()
