"""Who is right: lock step with the model, or the promises to clients."""
