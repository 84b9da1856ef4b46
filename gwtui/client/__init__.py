"""The asynchronous client of the API, usable as a library on its own.

``async with GatewayClient(connection) as gateway: page = await gateway.keys.list()``
"""
