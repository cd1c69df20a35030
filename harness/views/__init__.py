"""Views of what a schedule did: for the terminal, for a browser, and for the tools of others."""
