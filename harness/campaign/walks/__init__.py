"""Campaigns that run compiled random schedules on the model.

These campaigns report broken properties, and situations (kinds of states and events) that no schedule reached.
"""
