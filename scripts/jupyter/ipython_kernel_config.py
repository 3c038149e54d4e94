"""The kernel of `make lab`."""

# `make lab` copies this file to .venv/etc/ipython, where each kernel of this environment finds it
c.InteractiveShellApp.extensions = ["cselab_lab.lessons.restarted"]
