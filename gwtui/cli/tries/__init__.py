"""``gwtui try``: a real request to a model through a key, from the command line."""
