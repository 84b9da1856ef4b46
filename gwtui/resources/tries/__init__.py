"""Test requests through a key: their plan, their maximum cost and their outcome."""
