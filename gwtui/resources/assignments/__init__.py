"""What guardrails are assigned to: extended contract section 5."""
