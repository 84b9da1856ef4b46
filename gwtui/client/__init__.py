"""The async API service layer, usable as a library on its own.

``async with GatewayClient(connection) as gateway: page = await gateway.keys.list()``
"""
