"""Feeds poll the gateway and keep the last good value; the history and the alerts build on them."""
