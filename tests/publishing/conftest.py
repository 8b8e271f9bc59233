"""A connection to an empty database, as most tests of publishing begin."""

import pytest
from databases import empty_database


@pytest.fixture
def connection():
    with empty_database() as opened:
        yield opened
