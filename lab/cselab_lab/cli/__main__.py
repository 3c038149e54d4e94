"""`python -m cselab_lab.cli`, for `accelerate launch -m`."""

from cselab_lab.cli import main

if __name__ == "__main__":
    main()
