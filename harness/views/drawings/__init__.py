"""Draw the replay of a schedule: as SVG with a panel for each step, and as a sequence diagram."""
