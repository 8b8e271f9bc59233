"""The database elsewhere that the tests beside this file run on."""

import elsewhere
import pytest


@pytest.fixture(scope="module", params=elsewhere.NAMES)
def database(request):
    """One of them, open for all tests of a module; skips where it cannot be started."""
    with elsewhere.opened(request.param) as opened:
        yield opened
