"""The organization, its people and settings: extended contract section 4."""
