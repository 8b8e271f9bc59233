"""The quick loop, `pytest -m "not slow"`: what is promised, once, without random examples."""

import gc
import tempfile
from pathlib import Path

import pytest
from databases import empty_database
from hypothesis import HealthCheck, is_hypothesis_test, settings
from public import ADULT, COMPLETE, read

ROWS = 1  # of a parametrized test is not slow
# Files of long tests, which come first: at the end one process would work on them alone.
LONG = (
    *("test_benchmarks.py", "test_documentation.py", "test_dialects.py", "test_whole_policy.py"),
    *("test_fuzzing.py", "test_spark_java.py"),
)

# How fast a test draws tells of the machine.
settings.register_profile(
    "any", max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any")


def pytest_ignore_collect(collection_path, config):
    """Leaves files out unread of which the quick loop would leave out every test."""
    if config.option.markexpr == "not slow" and collection_path.suffix == ".py":
        return "\npytestmark = pytest.mark.slow\n" in collection_path.read_text("utf-8") or None
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Marks what the quick loop leaves out as slow, before tests are selected."""
    seen = {}
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("slow")
        if item.get_closest_marker("every_row"):
            continue
        test = item.nodeid.split("[")[0]
        seen[test] = seen.get(test, 0) + 1
        if seen[test] > ROWS:
            item.add_marker("slow")
    items.sort(key=lambda item: item.path.name not in LONG)


def pytest_collection_finish():
    """Looks for no garbage in modules and tests while they run, which stay until the end."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure():
    """Takes back what keeps modules past the end, whose types would be told as leaked."""
    gc.unfreeze()
    gc.callbacks[:] = [each for each in gc.callbacks if "hypothesis" not in each.__module__]


@pytest.fixture(scope="session", autouse=True)
def temporary_folder(tmp_path_factory):
    """The temporary folder of this process and of those it starts, where no other run left any."""
    tmp_path_factory.getbasetemp()  # lies in the machine's, and stays for who looks at a failure
    with (
        tempfile.TemporaryDirectory(prefix="tests-") as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        Path(folder).chmod(0o711)  # servers that run as another user have their folders in it
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield folder


@pytest.fixture
def connection():
    """A connection to an empty database."""
    with empty_database() as opened:
        yield opened


@pytest.fixture(scope="session")
def adult():
    """The 30,162 records of Adult without a question mark."""
    connection = read("adult.csv.gz", ADULT, COMPLETE)
    yield connection
    connection.close()
