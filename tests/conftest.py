"""Shared by every test: the shapes in the annotations are checked at each call."""

from jaxtyping import install_import_hook

install_import_hook(
    ["cselab.losses", "cselab.sgw", "cselab.pooling", "cselab.measures.geometry"], "typechecker.check"
)
