"""Rotations of keys: a successor takes over, the old key is retired."""
