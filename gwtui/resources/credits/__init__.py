"""Credits: contract "Credits"."""
