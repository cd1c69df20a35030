"""Programs made of rules, compiled or interpreted, and what ends their run: deadlines and Ctrl-C."""
