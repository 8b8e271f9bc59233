"""Methods side by side on one table: rows, page and charts."""
