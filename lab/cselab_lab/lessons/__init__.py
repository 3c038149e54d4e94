"""The tools of the lessons: setup, the reader's guesses, exercises and their checks."""
