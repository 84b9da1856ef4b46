"""Probes of watched endpoints: when, through which key, what came of them, what they cost."""
