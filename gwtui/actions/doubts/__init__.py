"""Writes whose outcome is not known: what there is now that speaks for the one or the other.

``looking.look_into`` reads it. Nothing here decides: a person does.
"""
