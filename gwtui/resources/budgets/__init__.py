"""Budgets of workspaces: extended contract section 3."""
