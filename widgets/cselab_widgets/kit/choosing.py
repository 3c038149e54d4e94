"""A row chosen from a list: what a click on a point does, by keyboard."""

from typing import Any

import ipywidgets
import traitlets


class RowList(ipywidgets.Dropdown):
    """Sets `selection` to one row: its options are (name, (row,)).

    Blank while no row, several, or one that is not listed is selected.
    """

    @traitlets.validate("value")
    def _validate_value(self, proposal: Any) -> Any:
        return proposal.value if proposal.value in self._options_values else None
