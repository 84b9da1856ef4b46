"""The wire: every request and response of the management API as pydantic models. No I/O.

Limits, patterns and value sets stand here once. Forms, the client and the embedded gateway all
read them from the request models; nothing above this layer repeats a limit.
"""
