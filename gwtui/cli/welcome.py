"""The question that ``gwtui`` asks in a terminal if there is no profile yet."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from gwtui.cli import login
from gwtui.cli.output import narrate, narrate_lines
from gwtui.cli.prompts import PromptLeftError, read_line
from gwtui.domain.known_secrets import Secret
from gwtui.local.paths import Paths
from gwtui.local.profiles import ProfileError
from gwtui.local.tokens import TokenError

_WELCOME = """\
gwtui administers an AI-model gateway from the terminal. No gateway is set up
on this machine yet. How do you want to start?

  d  Explore the demo: a simulated gateway with a week of recorded history.
     It works offline, needs no key and costs nothing.
  l  Log in to a gateway with a management key and save it as a profile.
  w  Watch a gateway read-only: log in, but never change anything.
  q  Quit.

To skip this question: gwtui --demo, gwtui login, gwtui login --read-only.
"""
_KEEP = """
Where do you want to store the key?

{keyring}
  f  In a plain-text file that only you can read.
  n  Nowhere: gwtui forgets the key when it exits.
  q  Quit.
"""
_KEYRING = "  k  In the keyring of this machine."
_NO_KEYRING = "     (The keyring is not available: {trouble}.)"


class Start(NamedTuple):
    """The options for the dashboard, and a key that is not stored."""

    arguments: argparse.Namespace
    key: Secret | None = None


def welcome(arguments: argparse.Namespace) -> Start | None:
    """Ask how to start, and log in if that was chosen; returns None to quit."""
    narrate_lines(_WELCOME.splitlines())
    match _choice("dlwq"):
        case "d":
            return Start(_with(arguments, demo=True))
        case "l":
            return _logged_in(arguments)
        case "w":
            route = arguments.route or "board"
            return _logged_in(_with(arguments, read_only=True, route=route))
    return None


def _logged_in(arguments: argparse.Namespace) -> Start | None:
    arguments = _with(login.COMMAND.parse(()), **vars(arguments))
    login.put_aside_environment_token()
    try:
        gateway = login.prompted_gateway(arguments)
        token, key = login.ask_key(gateway)
    except (ProfileError, PromptLeftError) as error:
        narrate(str(error))
        return None
    login.report_key(gateway.host, key)
    here = _with(arguments, base_url=gateway.base_url)
    paths = Paths.of_user()
    while (place := _place(gateway.host)) != "q":
        if place == "n":
            return Start(here, token)
        try:
            plan = login.plan_login(
                _with(here, keyring=place == "k", save_file=place == "f"), paths
            )
            login.keep(plan, paths, token)
        except (TokenError, ProfileError) as error:
            narrate(str(error))
        else:
            return Start(arguments)
    return None


def _place(host: str) -> str:
    trouble = login.keyring_trouble(host)
    keyring = _NO_KEYRING.format(trouble=trouble) if trouble else _KEYRING
    narrate_lines(_KEEP.format(keyring=keyring).splitlines())
    return _choice("fnq" if trouble else "kfnq")


def _with(arguments: argparse.Namespace, **changes: object) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(arguments), **changes})


def _choice(letters: str) -> str:
    prompt = f"Choose {', '.join(letters[:-1])} or {letters[-1]}: "
    try:
        while (chosen := read_line(prompt).lower()) not in letters or not chosen:
            continue
    except PromptLeftError:
        return "q"
    return chosen
