"""Draw a schedule: as panels, one for each step, as SVG, as a film, and as a sequence diagram."""
