"""The embedded gateway: the management API over HTTP, stored in SQLite, with simulated traffic.

``gateway`` opens one, ``hosting`` serves it on a socket, ``demo`` does both for ``gwtui --demo``.
"""
