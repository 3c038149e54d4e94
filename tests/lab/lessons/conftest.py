import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


@pytest.fixture(scope="module")
def kernel(request):
    """Runs a student's cell, after the FIRST_CELL of the tests and with their names, and gives its value."""
    names = dict(vars(request.module))
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}), user_ns=names)

    def value(cell):
        ran = shell.run_cell(cell)
        ran.raise_error()
        return ran.result

    value(names["FIRST_CELL"])
    return value
