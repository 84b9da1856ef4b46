"""Alerts: the instance that records evaluates the rules; all instances show the alerts.

``domain/alert_state`` is the state machine of an alert, ``domain/alert_rules`` has the kinds of
rules, and ``local/alerts`` reads ``alerts.toml``. Alerts are stored in the history file.
"""
