"""Run controllers, brokers and their clients as processes of this machine."""
