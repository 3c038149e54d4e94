"""What the lessons need: their setup, the reader's guesses, exercises and their checks."""
