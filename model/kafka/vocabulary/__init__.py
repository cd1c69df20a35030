"""What all rules speak in: events, mechanisms and protocols, settings, the fields of a state, refusals, goals."""
