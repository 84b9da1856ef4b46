"""Generations: extended contract section 8."""
