"""Helpers of all rooms, private to the package: choices, whole files, checksums, progress, versions."""
