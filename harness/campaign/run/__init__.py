"""A campaign as it runs: waves of blocks, their pace, and how it ends."""
