"""Activity of the last completed days: extended contract section 8."""
