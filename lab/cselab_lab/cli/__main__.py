"""`python -m cselab_lab.cli`, for `accelerate launch -m`."""

from . import main

if __name__ == "__main__":
    main()
