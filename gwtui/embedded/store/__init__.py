"""The gateway's data, in SQLite.

Money that only grows is counted in whole pico-USD, the unit every simulated price is a multiple of;
amounts that people set are exact decimal text. Moments are microseconds since 1970, UTC. Days are
proleptic ordinals. Every function takes the connection of the transaction it runs in.
"""
