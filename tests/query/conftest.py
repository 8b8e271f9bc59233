"""Hands each snapshot of a module to the tests of snapshots."""

import pytest
from databases import empty_database

pytest.register_assert_rewrite("snapshots")


def pytest_generate_tests(metafunc):
    marked = metafunc.definition.get_closest_marker("parametrize")  # by a module of its own
    if "snapshot" in metafunc.fixturenames and not marked:
        shown = metafunc.function.__name__ == "test_query_is_the_sql_beside_it"
        snapshots = [one for one in metafunc.module.SNAPSHOTS if one.sql or not shown]
        metafunc.parametrize("snapshot", snapshots, ids=repr)


@pytest.fixture(scope="module")
def connection():
    """A connection with the tables of the snapshots."""
    from snapshots import TABLES

    with empty_database() as opened:
        opened.execute(TABLES)
        yield opened
