"""Guardrails: contract "Guardrail"; extended contract section 5."""
