"""Models, endpoints, providers and prices.

See "Model with endpoints" in the contract and section 7 of the extended contract.
"""
