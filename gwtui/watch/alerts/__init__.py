"""Alerts: the process that records the history evaluates the rules; all dashboards show alerts.

``domain/alert_state`` is the state machine of an alert, ``domain/alert_rules`` has the kinds of
rules, and ``local/alerts`` reads ``alerts.toml``. Alerts are stored in the history file.
"""
