"""The command `cselab`, and `python -m cselab_lab.cli` for `accelerate launch -m`."""

import os

from cselab_lab.cli import app


def main() -> None:
    """Run the command line, in a process whose threads soon sleep while they wait for each other.

    Threads that stay awake keep other programs' from the cores that they wait for (docs/scale.md). libgomp reads the
    variable when torch is imported, which a command does later.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    app()


if __name__ == "__main__":
    main()
