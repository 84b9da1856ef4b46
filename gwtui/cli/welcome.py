"""What ``gwtui`` shows who has no profile yet: three ways to begin, one key each."""

from __future__ import annotations

import argparse
import os
import select
import sys
import termios
import tty
from collections.abc import Collection
from typing import NamedTuple

from gwtui.cli import login
from gwtui.cli.output import narrate, narrate_lines
from gwtui.cli.prompts import PromptLeftError
from gwtui.domain.known_secrets import Secret
from gwtui.local.paths import Paths
from gwtui.local.profiles import ProfileError
from gwtui.local.tokens import TokenError

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
_KEEP = """
Where do you want to keep the key?

{keyring}
  f  In plain text, in a file that only you can read.
  n  Nowhere: gwtui forgets it when it ends.
  q  Leave.
"""
_KEYRING = "  k  In the keyring of this machine."
_NO_KEYRING = "     (Not in a keyring: {trouble}.)"
_ESCAPE = "\x1b"
_SEQUENCE = 0.05
"""Seconds within which the rest of a key follows its escape character."""


class Beginning(NamedTuple):
    """What the dashboard is to be run with: its options, and a key that is kept nowhere."""

    arguments: argparse.Namespace
    key: Secret | None = None


def welcome(arguments: argparse.Namespace) -> Beginning | None:
    """Offer the ways to begin on the terminal, and take the one that is chosen; None for none."""
    print(_WELCOME, end="", file=sys.stderr, flush=True)
    match _key("dlwq"):
        case "d":
            return Beginning(_with(arguments, demo=True))
        case "l":
            return _logged_in(arguments)
        case "w":
            route = arguments.route or "board"
            return _logged_in(_with(arguments, read_only=True, route=route))
    return None


def _logged_in(arguments: argparse.Namespace) -> Beginning | None:
    """Ask for the address and the key of a gateway, then where to keep the key; None who leaves."""
    arguments = _with(login.COMMAND.parse(()), **vars(arguments))
    login.put_aside_environment_token()
    try:
        gateway = login.prompted_gateway(arguments)
        token, key = login.ask_key(gateway)
    except (ProfileError, PromptLeftError) as error:
        narrate(str(error))
        return None
    login.tell(gateway.host, key)
    here = _with(arguments, base_url=gateway.base_url)
    paths = Paths.of_user()
    while (place := _place(gateway.host)) != "q":
        if place == "n":
            return Beginning(here, token)
        try:
            plan = login.plan_login(
                _with(here, keyring=place == "k", save_file=place == "f"), paths
            )
            login.keep(plan, paths, token)
        except (TokenError, ProfileError) as error:
            narrate(str(error))
        else:
            return Beginning(arguments)
    return None


def _place(host: str) -> str:
    """The key that is pressed for a place; the keyring is offered only where it works."""
    trouble = login.keyring_trouble(host)
    keyring = _NO_KEYRING.format(trouble=trouble) if trouble else _KEYRING
    narrate_lines(_KEEP.format(keyring=keyring).splitlines())
    return _key("fnq" if trouble else "kfnq")


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
