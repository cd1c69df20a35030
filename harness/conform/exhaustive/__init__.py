"""Play every transition of the model within bounds on an adapter. Test sequences cover the transitions."""
