"""What a name of a table means, and what may be done with the table."""

import pytest

from sqlanon.engine.duckdb.catalog import qualified
from sqlanon.errors import EngineError, MissingTableError, SourceError

pytestmark = pytest.mark.slow


def here(schema, name):
    return qualified("postgres", schema, name)


@pytest.fixture
def tables(connection, remote):
    connection.execute("""
        DROP SCHEMA IF EXISTS study, "my.study" CASCADE;
        CREATE SCHEMA study; CREATE SCHEMA "my.study";
        CREATE TABLE people (age int);
        CREATE TABLE "People" (age int);
        CREATE TABLE "study.people" (age int);
        CREATE TABLE study.people (age int);
        CREATE TABLE study.visits (age int);
        CREATE TABLE "my.study"."a""b.c" (age int);
        CREATE VIEW seen AS SELECT * FROM people;
        CREATE MATERIALIZED VIEW kept AS SELECT * FROM people;
        CREATE TABLE parts (age int) PARTITION BY RANGE (age);
        CREATE TABLE young PARTITION OF parts FOR VALUES FROM (0) TO (30);
    """)
    return remote.tables


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("name", "schema", "found"),
    [("people", "public", "people"), ("People", "public", "People"),
     ("PEOPLE", "public", "People"), ("study.people", "public", "study.people"),
     ('"study"."people"', "study", "people"), ("study.visits", "study", "visits"),
     ("postgres.study.visits", "study", "visits"), ("VISITS", None, None),
     ('"my.study"."a""b.c"', "my.study", 'a"b.c'), ('"people"', "public", "people")],
)  # fmt: skip
def test_a_name_is_exact_first_and_then_dotted(tables, name, schema, found):
    if found is None:
        with pytest.raises(MissingTableError):
            tables.resolve(name)
    else:
        assert tables.resolve(name) == here(schema, found)


def test_the_search_path_decides(connection, tables):
    connection.execute("SET search_path = study, public")
    assert tables.resolve("people") == here("study", "people")
    connection.execute("CREATE TEMPORARY TABLE people (age int)")
    assert tables.resolve("people").db.startswith("pg_temp_")
    assert tables.target("new", here("study", "people")) == here("study", "new")


def test_an_empty_search_path_leaves_dotted_names(connection, tables):
    connection.execute("SET search_path = ''")
    assert tables.resolve("study.visits") == here("study", "visits")


def test_arrays_stay_arrays_where_they_take_a_place(connection, tables, remote):
    connection.execute(
        """CREATE TABLE written AS SELECT 'a' COLLATE "C" AS x, ARRAY['a', 'b'] AS y"""
    )
    connection.execute("""ALTER TABLE written ALTER y TYPE text[] COLLATE "C" """)
    with remote.transaction():
        tables.replace(here("public", "written"), here("public", "new"), overwrite=True)
    assert connection.execute("SELECT * FROM new").fetchall() == [("a", ["a", "b"])]


def test_a_missing_table_is_told_with_near_names(tables):
    with pytest.raises(MissingTableError, match=r"'peopel' among 10 tables; near it: '(p|P)eople'"):
        tables.resolve("peopel")
    with pytest.raises(SourceError, match="not a table in PostgreSQL"):
        tables.resolve(7)


def test_a_target_stands_beside_its_source_or_where_it_says(tables):
    source = here("study", "people")
    assert tables.target("new", source) == here("study", "new")
    assert tables.target("public.new", source) == here("public", "new")
    with pytest.raises(SourceError, match="no schema 'nowhere'"):
        tables.target("nowhere.new", source)
    with pytest.raises(SourceError, match="63 bytes"):
        tables.target("ä" * 32, source)
    assert tables.beside(source).db == "study"
    assert tables.beside(source) != tables.beside(source)
    assert tables.portable(source).sql("postgres") == '"study"."people"'


def test_tables_and_views_are_told_apart(tables):
    base = {name: tables.is_base_table(here("public", name)) for name in
            ("people", "parts", "young", "seen", "kept", "none", "PEOPLE")}  # fmt: skip
    assert [name for name, is_base in base.items() if is_base] == ["people", "parts", "young"]
    assert tables.exists(here("public", "seen"))
    assert not tables.exists(here("public", "PEOPLE"))


def test_a_table_takes_the_place_of_another(connection, tables, remote):
    written, place = here("study", "written"), here("study", "people")
    remote.run('CREATE TABLE "study"."written" AS SELECT 7 AS age')
    with remote.transaction():
        tables.replace(written, place, overwrite=True)
    assert connection.execute("SELECT age FROM study.people").fetchall() == [(7,)]
    assert not tables.exists(written)
    remote.run('CREATE TABLE "public"."written" AS SELECT 7 AS age')
    with pytest.raises(SourceError, match="'seen' is a view"):
        tables.replace(here("public", "written"), here("public", "seen"), overwrite=True)
    with pytest.raises(SourceError, match="depend on it"), remote.transaction():
        tables.replace(here("public", "written"), here("public", "people"), overwrite=True)
    tables.drop(here("public", "written"))
    assert not tables.exists(here("public", "written"))


def test_what_others_keep_for_themselves_is_not_seen(connect, tables):
    connect(autocommit=True).execute("CREATE TEMPORARY TABLE secret (age int)")
    with pytest.raises(MissingTableError):
        tables.resolve("secret")


def test_a_role_without_rights_is_told_so(connection, remote, tables):
    connection.execute("DROP ROLE IF EXISTS guest; CREATE ROLE guest; GRANT USAGE ON SCHEMA public "
                       "TO guest; SET ROLE guest")  # fmt: skip
    people = tables.resolve("people")
    with pytest.raises(SourceError, match=r"'people': .* lacks the right"):
        remote.columns(people)
    with pytest.raises(SourceError, match="lacks the right"):
        remote.run('CREATE TABLE "public"."new" AS SELECT 1')
    connection.execute("RESET ROLE; DROP OWNED BY guest; DROP ROLE guest")


def test_a_missing_column_and_schema_are_told(remote):
    for text in ("SELECT nothing FROM pg_class", "SELECT * FROM nowhere"):
        with pytest.raises(SourceError, match="there is no such"):
            remote.answer(text)
    with pytest.raises(EngineError, match="not valid"):
        remote.answer("SELECT FROM WHERE")
