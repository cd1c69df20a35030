"""What the local runs of all kinds of work share."""
