"""Drawings: a schedule as panels, one a step, as SVG, as a film, and as a sequence diagram."""
