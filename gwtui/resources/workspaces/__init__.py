"""Workspaces: contract "Workspace"; extended contract section 2."""
