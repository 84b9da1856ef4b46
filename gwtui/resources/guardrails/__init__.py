"""Guardrails. See "Guardrail" in the contract and section 5 of the extended contract."""
