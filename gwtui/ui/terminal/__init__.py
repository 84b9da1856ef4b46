"""Terminal driver, screen updates, clipboard and shutdown."""
