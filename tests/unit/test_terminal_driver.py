"""The Escape key is recognized at once; the start of a sequence never counts as Escape."""

from __future__ import annotations

import os
import queue
from collections.abc import Iterator
from threading import Event, Thread

import pytest
from textual import constants, events
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from gwtui.ui.terminal import driver as terminal_driver
from gwtui.ui.terminal.driver import PromptDriver

FOREVER = 300.0
SECONDS = 30.0


class Terminal(PromptDriver):
    """The driver with a pipe instead of a terminal."""

    def __init__(self) -> None:
        self.fileno, self._typing = os.pipe()
        self.exit_event = Event()
        self._handled = Event()
        self._handled.set()
        self._left = False
        self.keys: queue.Queue[str] = queue.Queue()
        self._reader = Thread(target=self.run_input_thread)
        self._reader.start()

    def process_message(self, message: Message) -> None:
        if isinstance(message, events.Key):
            self.keys.put(message.key)

    def write(self, data: str) -> None: ...

    def flush(self) -> None: ...

    def type(self, text: str) -> None:
        os.write(self._typing, text.encode())

    def keys_of(self, text: str, count: int = 1) -> list[str]:
        """Type a text; return the next keys."""
        self.type(text)
        return [self.keys.get(timeout=SECONDS) for _ in range(count)]

    def close(self) -> None:
        self.exit_event.set()
        os.close(self._typing)
        self._reader.join(SECONDS)
        os.close(self.fileno)
        assert not self._reader.is_alive()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """A terminal whose timers never end by themselves."""
    monkeypatch.setattr(constants, "ESCAPE_DELAY", FOREVER)
    monkeypatch.setattr(terminal_driver, "_GLANCE", FOREVER)
    monkeypatch.delenv("ESCDELAY", raising=False)
    opened = Terminal()
    yield opened
    opened.close()


def test_an_escape_character_by_itself_is_the_key(terminal: Terminal) -> None:
    for _ in range(2):
        assert terminal.keys_of("\x1b") == ["escape"]


def test_an_escape_at_the_end_waits_for_its_sequence(terminal: Terminal) -> None:
    assert terminal.keys_of("a\x1b") == ["a"]
    assert terminal.keys_of("[B") == ["down"]
    terminal.type("\x1b[")
    assert terminal.keys_of("A") == ["up"]


def test_the_rest_of_a_sequence_that_came_apart_types_no_letters(terminal: Terminal) -> None:
    assert terminal.keys_of("\x1b") == ["escape"], "the character counted as the Escape key"
    assert terminal.keys_of("[B\x1b[Aj", 3) == ["down", "up", "j"]
    assert terminal.keys_of("\x1b") == ["escape"]
    assert terminal.keys_of("OPj", 2) == ["f1", "j"]


def test_keys_after_an_escape_are_not_its_sequence(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert terminal.keys_of("\x1b") == ["escape"]
    assert terminal.keys_of("x[A", 3) == ["x", "left_square_bracket", "A"]
    monkeypatch.setattr(constants, "ESCAPE_DELAY", 0.0)
    assert terminal.keys_of("\x1b") == ["escape"]
    assert terminal.keys_of("[A", 2) == ["left_square_bracket", "A"], "the sequence came too late"


def test_who_sets_another_delay_gets_it(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ESCDELAY", "300000")
    patient = Terminal()
    patient.type("\x1b")
    with pytest.raises(queue.Empty):
        patient.keys.get(timeout=0.1)
    assert patient.keys_of("[B") == ["down"]
    patient.close()


def test_an_update_that_changes_no_cell_sends_nothing(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[str] = []
    monkeypatch.setattr(LinuxDriver, "write", lambda _driver, data: writes.append(data))
    for data in ("\x1b[1;2H", "\x1b[0mchanged\x1b[0m\x1b[1;2H"):
        PromptDriver.write(terminal, data)
    assert writes == ["\x1b[0mchanged\x1b[0m\x1b[1;2H"]
