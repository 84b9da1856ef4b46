"""What a board shows, live or as of a moment of the past; no terminal."""
