"""One package per resource: its declaration, its plans, its forms. No terminal here."""
