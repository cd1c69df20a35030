"""Cases: files with a schedule and its expected results, and the replay that checks them."""
