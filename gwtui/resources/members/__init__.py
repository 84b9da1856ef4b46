"""Members of workspaces: extended contract section 2."""
