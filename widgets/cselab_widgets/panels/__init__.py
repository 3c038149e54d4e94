"""The panels, a file each: a state, a pure figure of it, the same in words, and a thin shell that binds controls."""
