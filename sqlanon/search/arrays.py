"""Array types that the searches and the methods share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
