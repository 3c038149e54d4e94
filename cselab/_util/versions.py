"""What a result was made with: the versions that change numbers, and the kind of machine."""

import platform
from importlib.metadata import version


def versions() -> dict[str, str]:
    """Versions of cselab and of the libraries beneath it, and the machine in a few words."""
    import torch

    names = ("cselab", "torch", "transformers", "tokenizers", "accelerate", "numpy", "scipy", "scikit-learn")
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"{platform.machine()} CPU"
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in names},
        "device": device,
        "system": platform.system(),
    }
