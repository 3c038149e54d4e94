"""Notebooks run without a front end: parameters checked, numbers held against recorded ones, a page to read."""
