"""The feeds of each resource: what is read, and what one row of it holds."""
