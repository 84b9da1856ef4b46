"""The gateway's data, in SQLite.

Accumulated amounts are whole pico-USD, of which every simulated price is a multiple; amounts that
people set are exact decimal text. Moments are microseconds since 1970, UTC. Days are proleptic
ordinals. Every function takes the connection of the transaction it runs in.
"""
