"""The simulated catalog, figures and usage: pure functions of (seed, moment).

This package does no I/O. The gateway stores what must survive a restart: the seed, the
creation time of the account, each key's counters and the time up to which usage is booked. An
existing database is served without building the catalog until a request needs it.
"""
