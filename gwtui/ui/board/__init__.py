"""The panels of the board: each one shows one thing and asks the history its own question."""
