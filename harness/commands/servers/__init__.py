"""The commands that listen on 127.0.0.1 until Ctrl-C."""
