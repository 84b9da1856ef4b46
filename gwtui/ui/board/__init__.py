"""The panels of the board; each shows one topic and queries the history by itself."""
