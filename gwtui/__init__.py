"""gwtui: a full-screen terminal dashboard for administering and watching an AI-model gateway."""

__version__ = "0.1.0"
