"""Every transition of the model within bounds, played on a subject along tours."""
