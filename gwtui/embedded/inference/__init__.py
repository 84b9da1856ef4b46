"""Requests to models: simulated answers with real prices, limits, filters and routing.

Loaded on the first such request. ``exchange`` handles a request from authorization to charging.
"""
