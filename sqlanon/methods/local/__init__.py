"""Local recoding: what every method shares that recodes record by record.

A method takes the table as `EncodedRecords` from `input.encode_records`, which refuses labels that
no local method can mix, and says what becomes of each record (`release.Assigned`);
`release.decided` measures what will be published and makes the recoding and its report.
"""
