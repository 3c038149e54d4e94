"""Notebooks run without a front end: parameters checked, numbers compared with recorded ones, a page to read."""
