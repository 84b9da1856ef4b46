"""Alerts: rules run over what is recorded, by whichever instance records; the others show them.

``domain/alerting`` says when a condition becomes an alert, ``domain/alert_rules`` what rules there
are, ``local/alert_file`` which ones a person wants. What happened stands in the history's file.
"""
