"""The dashboard: everything that touches Textual."""
