"""Cases (files with a schedule of events and its expected results), and the replay that checks a case."""
