"""Information loss: of cells, of classes, as objectives of a search, and measured of a release."""
