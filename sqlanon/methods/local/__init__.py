"""Local recoding: what every method shares that recodes record by record.

A method refuses what it cannot do (`input.refuse_unsuited`), takes the table as `EncodedRecords`
(`input.encode_records`) and says what becomes of each record in a `LocalOutcome`; `result.decided`
makes the recoding and its report of these two. `release` measures what will be published.
"""
