"""What is wrong with files that cselab wrote or opens; apart, so that it can be named without torch."""


class CheckpointError(ValueError):
    """Saved weights or settings that are missing, cut short or altered; the message names the file."""
