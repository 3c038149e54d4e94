"""`python -m cselab.lab.cli`, for `accelerate launch -m`."""

from cselab.lab.cli import app

if __name__ == "__main__":
    app()
