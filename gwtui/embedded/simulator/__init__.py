"""The simulated catalog, figures and usage: pure functions of (seed, moment).

Nothing here stores, sleeps or serves. The gateway stores what must outlive a restart: the seed, the
moment at which the world began, each key's counters and how far its usage has been accrued. A
database that was seeded before is served without building the world, until somebody asks for the
catalog.
"""
