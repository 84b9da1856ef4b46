"""What ``gwtui`` shows who has no profile yet: three ways to begin, one key each."""

from __future__ import annotations

import argparse
import os
import select
import sys
import termios
import tty
from collections.abc import Collection

from gwtui.cli import exits, login
from gwtui.cli.output import narrate
from gwtui.cli.prompts import NoAnswerGivenError, read_line

_WELCOME = """\
gwtui administers an AI-model gateway from the terminal. There is no profile of
a gateway on this machine yet. How do you want to begin?

  d  Look around in the demo: a made-up gateway with a recorded week.
     It is offline, needs no key, and nothing in it costs anything.
  l  Log in to a gateway with a management key, and keep it as a profile.
  w  Watch a gateway read-only: the same, and nothing can be changed with it.
  q  Leave.

The same without asking: gwtui --demo, gwtui login, gwtui login --read-only.
"""
_KEEPING = """
Where is the key to be kept?

  k  In the keyring of this machine.
  f  In plain text, in a file that only you can read.
  n  Nowhere: it is asked for now, and forgotten when gwtui ends.
  q  Leave.
"""
_ESCAPE = "\x1b"
_SEQUENCE = 0.05
"""Seconds within which the rest of a key follows its escape character."""


def welcome(arguments: argparse.Namespace) -> argparse.Namespace | int:
    """Offer the ways to begin on the terminal, and take the one that is chosen.

    Gives what the dashboard is to be run with, else an exit code: nothing was chosen, or logging
    in failed.
    """
    print(_WELCOME, end="", file=sys.stderr, flush=True)
    match _key("dlwq"):
        case "d":
            return _with(arguments, demo=True)
        case "l":
            return _logged_in(arguments)
        case "w":
            route = arguments.route or "board"
            return _logged_in(_with(arguments, read_only=True, route=route))
    return exits.OK


def _logged_in(arguments: argparse.Namespace) -> argparse.Namespace | int:
    """Make a profile, or ask for an address alone."""
    print(_KEEPING, end="", file=sys.stderr, flush=True)
    kept = _key("kfnq")
    if kept == "q":
        return exits.OK
    if kept == "n":
        try:
            address = read_line("Address of the gateway, such as https://gateway.example/api/v1: ")
        except NoAnswerGivenError as error:
            narrate(str(error))
            return exits.USAGE
        return _with(arguments, base_url=address)
    asked = argparse.ArgumentParser()
    login.configure(asked)
    wanted = asked.parse_args(["--keyring" if kept == "k" else "--save-file"])
    status = login.run(_with(arguments, **vars(wanted)))
    return arguments if status == exits.OK else status


def _with(arguments: argparse.Namespace, **changes: object) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(arguments), **changes})


def _key(offered: Collection[str]) -> str:
    """The key that is pressed, one of those that are offered; "q" for leaving in any way.

    What is typed after it stays with the terminal, for whoever reads next.
    """
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSADRAIN)
        while True:
            pressed = os.read(terminal, 1).decode("ascii", "replace").lower()
            if pressed == _ESCAPE and _rest(terminal):
                continue
            if pressed in offered:
                return pressed
            if pressed in ("", _ESCAPE, "\x04"):
                return "q"
    except KeyboardInterrupt:
        return "q"
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _rest(terminal: int) -> bool:
    """Whether an escape character began a longer key, which is then read."""
    found = False
    while select.select([terminal], [], [], _SEQUENCE)[0]:
        found = True
        last = os.read(terminal, 1)
        if (last.isalpha() and last != b"O") or last == b"~":
            break
    return found
