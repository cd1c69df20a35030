"""What is played on a cluster; each ends with a verdict on acknowledged records."""
