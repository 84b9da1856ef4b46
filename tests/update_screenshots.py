"""``python tests/update_screenshots.py`` writes ``screenshots/`` from the real application."""

from __future__ import annotations

import asyncio

from screenshots_kit import FOLDER, write_all

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    asyncio.run(write_all(FOLDER))
