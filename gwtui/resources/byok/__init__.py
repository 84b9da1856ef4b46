"""BYOK provider credentials: contract "BYOK provider credential"; extended section 6."""
