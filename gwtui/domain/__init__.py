"""Pure logic: no I/O and no terminal."""
