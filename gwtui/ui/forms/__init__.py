"""Modal forms: a form is a list of fields bound to a request model."""
