"""A broker's life: crashes, power loss, restarts, registration and fencing."""
