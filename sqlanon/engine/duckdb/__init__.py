"""DuckDB, embedded: the engine that every other part of sqlanon is measured on."""
