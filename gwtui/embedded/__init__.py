"""The embedded gateway: a real management API over HTTP and SQLite, with simulated traffic.

``gateway`` opens one, ``hosting`` serves it on a socket, ``demo`` does both for ``gwtui --demo``.
"""
