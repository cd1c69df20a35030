"""Mutants with mistakes in controllers: fail-over, broker registration, and eligible leaders."""
