"""Completion of the command line in bash, zsh and fish."""
