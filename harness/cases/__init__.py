"""Cases: schedules kept as files, what they expect of each protocol, and whether that is so."""
