"""Link and compile the model's rules, or interpret them; and end runs by a deadline or Ctrl-C."""
