"""The stages of the notebooks' exercises: self-contained, so that a check works straight after a kernel restart."""
