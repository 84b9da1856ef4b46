"""The engine that every resource shares: declaration, plan, execution, undo, recovery."""
