"""Keys inside of forms and dialogs, as actions: each dialog does them itself.

They are no part of the palette. ``DIALOG_SCOPES`` meet no list and no screen: while a dialog is
open, its keys and those of ``ANYWHERE`` are the only ones. Tab, Enter and Space are what they are
everywhere, besides what is chosen here.
"""

from __future__ import annotations

from gwtui.crud.action import Action

FORM = "form"
"""Forms, and the screens that change one value of a form."""
QUESTION = "question"
"""Plans and questions that are agreed to or not."""
NEW_KEY = "new-key"
"""The dialog that shows the value of a new key once."""
DIALOG_SCOPES = (FORM, QUESTION, NEW_KEY)

ANYWHERE = frozenset({"app.quit", "app.redraw", "app.screenshot"})
"""Actions of the frame whose control keys work in forms and dialogs, too."""

ACTIONS: tuple[Action, ...] = (
    Action(
        "form.send", "Send", "Plan and send what is typed; of one value: keep it", FORM, ("ctrl+s",)
    ),
    Action(
        "form.leave", "Leave", "Close it; what was typed is asked about first", FORM, ("escape",)
    ),
    Action("form.next_field", "Next field", "To the next field, as Tab does", FORM, ("down",)),
    Action(
        "form.previous_field",
        "Field before",
        "To the field before, as Shift+Tab does",
        FORM,
        ("up",),
    ),
    Action(
        "form.next_part",
        "Next part",
        "To the next part of a long form",
        FORM,
        ("pagedown", "ctrl+pagedown"),
    ),
    Action(
        "form.previous_part",
        "Part before",
        "To the part before of a long form",
        FORM,
        ("pageup", "ctrl+pageup"),
    ),
    Action(
        "form.choices", "List choices", "List what a field knows to choose from", FORM, ("ctrl+o",)
    ),
    Action("form.add", "Add", "Add a pattern to the content filters", FORM, ("ctrl+n",)),
    Action("question.yes", "Yes", "Agree, where a key is enough to", QUESTION, ("y",)),
    Action("question.no", "No", "Close it, and do nothing", QUESTION, ("escape", "n", "q")),
    Action("question.next", "Next button", "To the next button", QUESTION, ("right", "down")),
    Action("question.previous", "Button before", "To the button before", QUESTION, ("left", "up")),
    Action("new-key.copy", "Copy", "Copy the value of the new key", NEW_KEY, ("y", "c")),
    Action("new-key.show", "Show", "Show the value, or hide it again", NEW_KEY, ("v",)),
    Action("new-key.save", "Save", "Save the value to a private file", NEW_KEY, ("s",)),
    Action("new-key.try", "Try", "Send a request with the new key", NEW_KEY, ("t",)),
)
