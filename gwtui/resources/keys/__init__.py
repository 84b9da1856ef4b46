"""API keys. See "API key" in the contract and section 1 of the extended contract."""
