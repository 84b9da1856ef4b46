"""Findings: what a person should look at across the account."""
