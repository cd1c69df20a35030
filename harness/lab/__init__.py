"""The laboratory: code that measures or documents epochfuzz. Only the commands `bench` and `selftest` import it."""
