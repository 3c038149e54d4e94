"""The checker of annotations while testing: beartype, with PEP 484's reading that an int is a float."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
