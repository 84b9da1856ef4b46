"""What each action does in the dashboard: plan, confirm, execute, report."""
