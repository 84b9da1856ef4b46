"""API keys: contract "API key"; extended contract section 1."""
