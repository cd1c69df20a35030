"""Gates: proxies between the processes of a cluster, which hold messages and forward them on request."""
