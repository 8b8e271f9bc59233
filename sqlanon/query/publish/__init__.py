"""The statements that publish a recoding."""
