"""What methods that recode record by record share."""
