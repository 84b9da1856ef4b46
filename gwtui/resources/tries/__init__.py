"""A real request through a key: what it would meet, what it may cost at most, what came of it."""
