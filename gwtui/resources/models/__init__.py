"""Models, endpoints, providers and prices: contract "Model with endpoints"; extended section 7."""
