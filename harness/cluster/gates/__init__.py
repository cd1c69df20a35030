"""Messages at gates: proxies between the processes of a cluster, which hold and pass what goes over the wire."""
