"""Pictures without controls: drawings before a formula, and effects by the size of training."""
