"""Array types that the searches and the methods share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Small = NDArray[np.int32]
"""Numbers of which there are as many as rows of a large table."""
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
