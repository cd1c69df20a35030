"""Read broker logs, and turn their lines into events."""
