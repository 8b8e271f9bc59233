"""Own folders and files: what is swept and what is not, and replacing a file in one step."""

import fcntl
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sqlanon.engine.locked_folders import (
    HIDDEN,
    OWNER,
    VISIBLE,
    LockedFolder,
    locked_folder,
    swept,
    write_file,
    write_private,
)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX locks")


def dead(place, prefix=VISIBLE):
    """The folder of a process that has been killed, with a file in it."""
    code = (
        "import os, signal, sys; from sqlanon.engine.locked_folders import LockedFolder; "
        "made = LockedFolder.make(sys.argv[1], sys.argv[2]); "
        "(made.path / 'spill').write_text('x'); "
        "(made.path / 'inner').mkdir(); (made.path / 'inner' / 'spill').write_text('x'); "
        "print(made.path, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    command = [sys.executable, "-c", code, str(place), prefix]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return place / Path(done.stdout.strip()).name


@pytest.mark.parametrize("prefix", [VISIBLE, HIDDEN, "sqlanon-", ".sqlanon-"])
def test_the_folder_of_a_dead_process_is_removed_and_told(tmp_path, prefix):
    folder = dead(tmp_path, prefix)
    assert (folder / "spill").exists()
    assert swept([tmp_path]) == [
        f"1 folder that a killed run had left in {str(tmp_path)!r} was removed"
    ]
    assert not folder.exists()
    assert swept([tmp_path]) == []


def test_the_folder_of_a_living_process_is_left_alone(tmp_path):
    with locked_folder(tmp_path) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert swept([tmp_path]) == []
        assert folder.exists()
    assert not folder.exists()


def test_a_folder_that_is_not_surely_ours_is_left_alone(tmp_path):
    for name in ("sqlanon-demo", "sqlanon-abcdefgh", "sqlanon-abcdefgh.old", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").write_text("x")
    (tmp_path / "sqlanon-ijklmnop").write_text("a file")
    (tmp_path / "other" / OWNER).touch()
    (tmp_path / "sqlanon-qrstuvwx").symlink_to(tmp_path / "other")
    before = sorted(tmp_path.rglob("*"))
    assert swept([tmp_path]) == []
    assert sorted(tmp_path.rglob("*")) == before


def abandoned(path, mode=0o700):
    """An empty folder without an owner's file, two hours old."""
    path.mkdir()
    path.chmod(mode)
    os.utime(path, (time.time() - 7200,) * 2)
    return path


def test_a_folder_in_the_making_stays_and_an_empty_old_one_goes_and_is_told(tmp_path):
    young, old = tmp_path / f"{VISIBLE}abcdefgh", abandoned(tmp_path / f"{HIDDEN}ijklmnop")
    young.mkdir(mode=0o700)
    assert swept([tmp_path]) == [
        f"1 folder that a killed run had left in {str(tmp_path)!r} was removed"
    ]
    assert (young.exists(), old.exists()) == (True, False)


@pytest.mark.parametrize(
    ("name", "mode"),
    [("sqlanon-exported", 0o700), (".sqlanon-settings", 0o700), (f"{VISIBLE}abcdefgh", 0o755)],
)
def test_an_empty_old_folder_that_people_may_have_made_stays(tmp_path, name, mode):
    folder = abandoned(tmp_path / name, mode)
    assert swept([tmp_path]) == []
    assert folder.exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs root to change the user")
def test_the_folder_of_another_user_is_left_alone(tmp_path):
    folder = dead(tmp_path)
    os.chown(folder, 65534, 65534)
    assert swept([tmp_path]) == []
    assert (folder / "spill").exists()


def test_what_cannot_be_removed_keeps_its_owners_file(tmp_path, monkeypatch):
    folder = LockedFolder.make(tmp_path)
    (folder.path / "spill").write_text("x")
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.unlink", lambda *_, **__: (_ for _ in ()).throw(OSError()))
        folder.remove()
    assert (folder.path / OWNER).exists()
    assert len(swept([tmp_path])) == 1
    assert not folder.path.exists()


def test_a_link_in_a_dead_folder_is_not_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    folder = dead(tmp_path)
    (folder / "link").symlink_to(tmp_path / "precious")
    assert len(swept([tmp_path])) == 1
    assert (tmp_path / "precious" / "file").read_text() == "x"


@pytest.mark.parametrize("moment", ["was made", "is locked", "is removed"])
def test_an_interruption_leaves_no_folder(tmp_path, monkeypatch, moment):
    home, name = {
        "was made": (os, "mkdir"),
        "is locked": (fcntl, "flock"),
        "is removed": (Path, "rmdir"),
    }[moment]
    carried_out, interrupted = getattr(home, name), []

    def once(*given):
        if not interrupted:
            interrupted.append(given)
            if moment == "was made":
                carried_out(*given)
            raise KeyboardInterrupt
        return carried_out(*given)

    monkeypatch.setattr(home, name, once)
    with pytest.raises(KeyboardInterrupt), locked_folder(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_for_its_owner_alone_and_a_link_followed(tmp_path):
    target, link = tmp_path / "plan.json", tmp_path / "link.json"
    target.write_text("old")
    target.chmod(0o644)
    link.symlink_to(target)
    inode = target.stat().st_ino
    write_private(link, "new")
    assert target.read_text() == link.read_text() == "new"
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600
    assert target.stat().st_ino != inode
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "plan.json"]


def test_a_file_is_as_it_was_where_its_successor_cannot_be_written(tmp_path):
    target = tmp_path / "plan.json"
    target.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError):
            write_private(target, "n" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]


def test_a_draft_is_on_the_disk_before_it_takes_the_place(tmp_path, monkeypatch):
    order = []
    replace = os.replace
    monkeypatch.setattr(os, "fsync", lambda _: order.append("sync"))
    monkeypatch.setattr(os, "replace", lambda *names: order.append("replace") or replace(*names))
    write_private(tmp_path / "a", "x")
    assert order == ["sync", "replace", "sync"]


def test_a_device_is_written_to():
    assert write_private(Path(os.devnull), "x") == []


def test_a_file_that_anybody_may_read_keeps_its_rights_and_is_replaced_in_one_step(tmp_path):
    target = tmp_path / "policy.toml"
    target.write_text("old")
    target.chmod(0o640)
    inode = target.stat().st_ino
    write_file(target, "new")
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    assert target.stat().st_ino != inode
