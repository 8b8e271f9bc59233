"""Reports that several layers know, as documents and as text; others stand with what makes them."""
