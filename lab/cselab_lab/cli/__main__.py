"""`python -m cselab_lab.cli`, for `accelerate launch -m`."""

from cselab_lab.cli import app

if __name__ == "__main__":
    app()
