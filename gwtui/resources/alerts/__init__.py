"""Alerts, their rules and their history, as resources of this machine."""
