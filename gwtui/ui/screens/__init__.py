"""The screens of the dashboard, and its dialogs."""
