"""What each name means, for `epochfuzz explain` and the pages of docs/reference/."""
