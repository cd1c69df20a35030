"""Play: build a schedule in a browser by clicking one event after another, under several protocols at once.

The server keeps no session. The address of the page encodes the current `Position`, so reloading, the browser's back
button and shared links all work. A `Board` holds the content of the page at a position.
"""
