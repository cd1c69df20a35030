"""Run controllers, brokers and their clients as processes on this machine."""
