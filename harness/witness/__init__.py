"""What a schedule did: replayed step by step, and put into scenes and sentences, once for all that show it."""
