"""Terminal driver, screen updates, clipboard, screenshots and shutdown."""
