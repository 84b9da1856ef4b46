"""The panels of the board, one per topic, and the queries that fill them."""
