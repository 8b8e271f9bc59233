"""Methods: from a table and a policy to a recoding."""
