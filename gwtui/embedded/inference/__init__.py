"""Requests to models: simulated answers whose price, limits, filters and routing are real.

Loaded with the first request of this kind. ``exchange`` takes one from its admission to its
booking.
"""
