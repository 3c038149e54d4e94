"""What is looked at without controls: drawings before a formula, and effects by the size of training."""
