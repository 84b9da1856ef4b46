"""Writes in doubt, as a resource of this machine."""
