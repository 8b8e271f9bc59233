"""Benchmarks: each runs at its smallest size; what they measure is not looked at."""

import runpy
import sys
from pathlib import Path

import pytest
from public import DATA

FOLDER = Path(__file__).parent.parent / "benchmarks"
SMALLEST = [
    "annealing.py gains --table students --records 60 --k 3",
    "annealing.py losses --table students --records 12 --k 4 --passes 1",
    "annealing.py partial --records 60 --k 5",
    "baselines.py adult --k 5 --records 60",
    "baselines.py adult --k 5 --records 60 --methods forest --loss monotone-entropy --refine",
    "baselines.py adult14 --k 20 --records 60 --methods direct-cover",
    "baselines.py nursery --k 5 --records 60 --methods forest agglomerative",
    "baselines.py attributes --k 20 --records 40",
    "baselines.py suppression --k 5 --records 60 --methods forest",
    "bounds.py adult --k 5 --records 60",
    "bounds.py suppression --k 4 --records 60",
    "bounds.py census --k 10 --records 80",
    "check.py --records 2000 --runs 1",
    "scale.py --records 1000",
    "crashes.py kills --records 2000 --kills 1",
    "crashes.py interrupts --records 2000 --interrupts 1 --grace 60",
    "covers.py adult --k 5 --records 30",
    "covers.py suppression --k 5 --records 60",
    "covers.py blocks --k 5 --records 20",
    "covers.py growth --k 5 --records 20",
    "covers.py wide --k 20 --records 100",
    "covers.py limit --k 5 --records 20",
    "covers.py starts --k 5 --records 60",
    "elsewhere.py --records 100 --engines duckdb",
    "fetching.py --rows 1000 --runs 1",
    "curves.py methods --tables adult-5 --records 60 --methods mondrian anytime incognito "
    "--passes 1 --limits 2 --effort quick --rows {folder}/rows.csv --chart {folder}/chart.svg",
    "curves.py models --records 30 --methods mondrian",
    "curves.py scale --records 60 --cores 1",
    "fuzzing.py releases --cases 3",
    "fuzzing.py bounds --cases 3",
    "fulldomain.py adult --runs 1 --k 2",
    "fulldomain.py models --runs 1 --limits 0",
    "fulldomain.py ihis --runs 1 --k 50",
    "itemsets.py growth --records 60",
    "itemsets.py adult --runs 1 --records 300",
    "itemsets.py wide --runs 1 --records 300",
    "limits.py --columns 2 --records 100 --limits 0.1",
    "limits.py --columns 2 --kept 3 --sensitive --file csv --records 100 --limits 0.1 --methods "
    "incognito partial-domain-annealed",
    "load.py {data} --rows 1000 --runs 1 --files adult",
    "mondrian.py table --k 5 --records 100",
    "mondrian.py peers --k 5 --records 60",
    "neighbourhoods.py adult --k 5 --records 60 --pools 3 --effort quick",
    "patterns.py table --k 2",
    "patterns.py exact --rows 12 --time-limit 60",
    "patterns.py exact --rows 12 --time-limit 0.001",
    "patterns.py models --rows 12 --time-limit 60",
    "peers.py --records 200 --k 3",
    "risk.py --max-columns 1 --runs 1",
    "risk.py --people 2000",
    "blocks.py --records 100 --local-rows 40",
    "schemes.py direction --schemes ghs --k 5",
    "schemes.py columns --schemes bhs --columns 2",
    "schemes.py quality --schemes bhs ghs --k 5 --loss hdm --start",
    "schemes.py quality --schemes bhs --k 5 --search columns",
    "schemes.py prunings --schemes ghs --k 5",
]

GENERATED = (
    "blocks.py",
    "check.py",
    "scale.py",
    "limits.py",
    "crashes.py",
    "fetching.py",
    "fuzzing.py",
    "peers.py",
)
"""Benchmarks of tables that they make up: they need no public data."""


@pytest.mark.slow
@pytest.mark.every_row
@pytest.mark.parametrize("words", SMALLEST)
def test_benchmark_runs_at_its_smallest_size(words, monkeypatch, capsys, tmp_path):
    if not words.startswith(GENERATED) and not (DATA / "adult.csv.gz").exists():
        pytest.skip(f"public data not found: {DATA}; name its folder with SQLANON_DATA")
    if words.startswith(("blocks.py", "fetching.py")):
        pytest.importorskip("pysail", reason="pysail is not installed")
    name, *others = words.format(data=DATA, folder=tmp_path).split()
    monkeypatch.setenv("SQLANON_DATA", str(DATA))
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(sys, "argv", [str(FOLDER / name), *others])
    # In this process: to load what each of them imports takes longer than most of them run.
    runpy.run_path(str(FOLDER / name), run_name="__main__")
    assert capsys.readouterr().out


def test_every_benchmark_is_run():
    run = {words.split()[0] for words in SMALLEST}
    own = {path.name for path in FOLDER.glob("*.py") if "argparse" in path.read_text("utf-8")}
    assert run == own
