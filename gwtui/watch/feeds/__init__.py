"""The feeds of each resource and the types of their rows."""
