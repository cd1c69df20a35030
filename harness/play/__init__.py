"""Play: a schedule tried out in a browser, one clicked event after the other, under several protocols at once.

The server keeps no session. Where somebody is, a `Position`, is the address of the page, so that reload, the browser's
back button and a link that is passed on all work. What there is to see and to click there is a `Board`.
"""
