"""The wire: every request and response of the management API as pydantic models. No I/O.

Limits, patterns and allowed values are only defined here. Forms, the client and the embedded
gateway read them from the request models.
"""
