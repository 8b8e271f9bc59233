"""Hands a test the tables that the snapshots of its module look at."""

import pytest
from databases import empty_database
from foreign import SERVERS


@pytest.fixture(scope="module")
def connection(request):
    """A connection with the tables of the snapshots."""
    from snapshots import TABLES

    with empty_database() as opened:
        opened.execute(getattr(request.module, "TABLES", TABLES))
        yield opened


@pytest.fixture(scope="module", params=SERVERS)
def engine(request):
    """A session of another engine; skips where it is not installed."""
    with SERVERS[request.param]() as session:
        yield session
