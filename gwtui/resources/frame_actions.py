"""Actions of the frame: offered everywhere (APP) or in every resource list (LIST)."""

from __future__ import annotations

from gwtui.crud.action import APP, LIST, Action

ACTIONS: tuple[Action, ...] = (
    Action(
        "app.help",
        "Help",
        "Every key of this screen",
        APP,
        ("question_mark",),
        footer=True,
        words=("help", "h", "?"),
    ),
    Action(
        "app.first_steps",
        "First steps",
        "What this is, what to try, where help is: welcome, introduction, tour",
        APP,
        words=("welcome",),
    ),
    Action("app.palette", "Commands", "Find an action by its name", APP, ("ctrl+p",), footer=True),
    Action(
        "app.goto",
        "Go to",
        "Open a resource by its path, such as keys or models/author/slug",
        APP,
        ("colon",),
    ),
    Action(
        "app.profile",
        "Switch profile",
        "Go on with the gateway of another profile: context, account",
        APP,
        words=("ctx", "context", "profile", "profiles"),
    ),
    Action(
        "app.workspace", "Workspace", "Choose the workspace that lists are narrowed to", APP, ("w",)
    ),
    Action("app.refresh", "Refresh", "Read the shown figures again now", APP, ("r",)),
    Action(
        "app.redraw",
        "Redraw",
        "Paint the whole screen again, after something else wrote on it",
        APP,
        ("ctrl+l",),
    ),
    Action(
        "app.theme",
        "Theme",
        "Choose colours: dark, light, high contrast, terminal",
        APP,
        ("t",),
        words=("theme",),
    ),
    Action(
        "app.unacknowledged",
        "Keys never acknowledged",
        "Show new keys again whose values nobody has said to have stored",
        APP,
    ),
    Action(
        "app.undo",
        "Undo",
        "Take the last change back, for ten minutes and as long as nobody changed it since",
        APP,
        ("U", "ctrl+z"),
        mutates=True,
    ),
    Action(
        "app.back",
        "Back",
        "Close what is open, else return to the screen before",
        APP,
        ("escape", "backspace"),
    ),
    Action(
        "app.quit",
        "Quit",
        "Leave the dashboard",
        APP,
        ("q", "ctrl+q", "ctrl+c"),
        footer=True,
        words=("q", "quit", "exit", "q!"),
    ),
    Action(
        "list.open",
        "Open",
        "Open the selected row",
        LIST,
        ("enter",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    Action("list.filter", "Filter", "Narrow the list while typing", LIST, ("slash",), footer=True),
    Action("list.sort", "Sort", "Choose the column to sort by", LIST, ("s",), footer=True),
    Action(
        "list.sort_left", "Sort left", "Sort by the column to the left", LIST, ("less_than_sign",)
    ),
    Action(
        "list.sort_right",
        "Sort right",
        "Sort by the column to the right",
        LIST,
        ("greater_than_sign",),
    ),
    Action("list.reverse", "Reverse", "Turn the sort order around", LIST, ("S",)),
    Action(
        "list.detail",
        "Detail",
        "Show or hide every figure of the selected row",
        LIST,
        ("d",),
        target=True,
        marked="cursor",
        footer=True,
    ),
    Action(
        "list.raw",
        "Raw JSON",
        "The selected row as the gateway sent it",
        LIST,
        ("v",),
        target=True,
        marked="cursor",
    ),
    Action(
        "list.copy", "Copy id", "Copy the identity of the selected row", LIST, ("y",), target=True
    ),
    Action("list.mark", "Mark", "Mark the selected row or take the mark away", LIST, ("space",)),
    Action(
        "list.mark_range",
        "Mark range",
        "Mark the rows from the one marked last to the selected one; Shift+arrows mark on the way",
        LIST,
        ("V",),
    ),
    Action(
        "list.mark_all",
        "Mark all",
        "Mark every row that the filter lets through",
        LIST,
        ("asterisk",),
    ),
    Action(
        "list.invert_marks",
        "Invert marks",
        "Mark the listed rows that are not marked, and take the marks of the others away",
        LIST,
        ("tilde",),
    ),
    Action("list.unmark", "Unmark all", "Take every mark away, also of hidden rows", LIST, ("u",)),
)
