"""Kafka itself: a controller and three brokers as processes on this machine, and what happens to acknowledged records.

Nothing here knows the model. What is judged is what clients saw, beside the brokers' own files and logs.
"""
