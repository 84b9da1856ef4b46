"""Test requests through a key: their plan, their worst-case cost and their outcome."""
