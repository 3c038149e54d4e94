"""Pictures without controls: drawings before a formula."""
