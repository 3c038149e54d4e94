"""The versions that can change numbers, and the kind of machine."""

__version__ = "0.2.0"
"""Of cselab; pyproject.toml reads it here."""


def versions() -> dict[str, str]:
    """The versions of cselab and of its libraries, and a short description of the machine."""
    import platform
    from importlib.metadata import version

    import torch

    names = ("transformers", "tokenizers", "accelerate", "numpy", "scipy", "scikit-learn")
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"{platform.machine()} CPU"
    return {
        "python": platform.python_version(),
        "cselab": __version__,
        "torch": str(torch.__version__),  # with its build, such as +cpu or +cu130
        **{name: version(name) for name in names},
        "device": device,
        "system": platform.system(),
    }
