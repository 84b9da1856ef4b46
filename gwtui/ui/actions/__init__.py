"""The handlers of the dashboard's actions: plan, confirm, execute, report."""
