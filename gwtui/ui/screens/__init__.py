"""The screens of the dashboard and its small modal ones."""
