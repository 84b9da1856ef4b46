"""Alerts: rules run over what is recorded, by the instance that records; the others show them.

``domain/alert_state`` says when a condition becomes an alert, ``domain/alert_rules`` what rules
there are, ``local/alerts`` which ones a person wants. Events are kept in the history's file.
"""
