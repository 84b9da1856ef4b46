"""What a user can do: the one registry of actions, and the one road every write takes.

Bindings, palette, footer, help page and command line are all read from ``registry``.
"""
