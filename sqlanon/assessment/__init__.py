"""Assessment: what a table as it stands discloses, risks and has lost."""
