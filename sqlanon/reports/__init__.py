"""Reports: what every command returns, as a document and as text."""
