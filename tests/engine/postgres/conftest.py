"""A server of PostgreSQL, and connections to it."""

import pytest
from servers import postgres_folder

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
REMOTE = pytest.importorskip("sqlanon.engine.postgres.connection").PostgresRemote


@pytest.fixture(scope="session")
def address():
    """Where a server listens, as psycopg reads it."""
    with postgres_folder() as (folder, _):
        yield f"host={folder} user=postgres dbname=postgres"


@pytest.fixture
def connect(address):
    """Opens connections, each closed at the end, in an empty schema that comes first."""
    opened = []

    def connection(**settings):
        opened.append(psycopg.connect(address, **settings))
        return opened[-1]

    with psycopg.connect(address, autocommit=True) as first:
        first.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    yield connection
    for each in opened:
        each.close()


@pytest.fixture
def connection(connect):
    """One that commits each statement."""
    return connect(autocommit=True)


@pytest.fixture
def remote(connection):
    """The engine over it."""
    engine = REMOTE(connection)
    yield engine
    engine.close()


def store(engine, name, text):
    """Stores the rows of a query, all of them where the query is carried out."""
    return engine.store(name, text, most=0)
