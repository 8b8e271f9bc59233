"""From people.parquet to people_anonymous.parquet, with a proof and what it costs.

Run `python make_people.py` first, then `python anonymize.py`.
"""

import sqlanon

SOURCE, RELEASED, POLICY = "people.parquet", "people_anonymous.parquet", "policy.toml"


def main() -> None:
    """Publishes the file, and shows what was proved and what was lost."""
    # Nothing is written unless the written file satisfies the policy.
    report = sqlanon.anonymize(SOURCE, POLICY, output=RELEASED, overwrite=True)
    print(report.to_text())

    # What anybody who holds both files can work out again.
    loss = sqlanon.measure(SOURCE, RELEASED, POLICY).loss["lm"]
    check = sqlanon.check(RELEASED, POLICY, released=True)
    print(f"\nproved again from the file: {check!r}; loss {loss:.3f} of 1")


if __name__ == "__main__":
    main()
