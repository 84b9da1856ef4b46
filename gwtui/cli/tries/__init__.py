"""``gwtui try``: send a test request to a model through a key."""
