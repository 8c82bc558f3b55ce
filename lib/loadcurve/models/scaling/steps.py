"""One step of Marquardt's method, for many data sets at once."""

import numpy as np


def damped_step(normal: np.ndarray, gradient: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """Solve (JᵀJ, its diagonal stretched by 1 + damping) · step = gradient for each data set.

    Parameters
    ----------
    normal : numpy.ndarray, shape (b, p, p)
        JᵀJ; a row of zeros belongs to a parameter without influence, whose step is 0.
    gradient : numpy.ndarray, shape (b, p)
    damping : numpy.ndarray, shape (b,)
        >= 0.

    Returns
    -------
    numpy.ndarray, shape (b, p)

    Examples
    --------
    >>> damped_step(np.array([[[2.0, 0.0], [0.0, 0.0]]]), np.array([[4.0, 0.0]]), np.zeros(1))
    array([[2., 0.]])
    """
    # Scaled so that its diagonal is 1: parameters differ by ten orders of magnitude.
    scale = np.sqrt(np.einsum("bii->bi", normal))
    scale[scale == 0] = 1.0
    scaled = normal / (scale[:, :, None] * scale[:, None, :])
    diagonal = np.arange(gradient.shape[1])
    scaled[:, diagonal, diagonal] = 1 + damping[:, None]
    try:
        solved = np.linalg.solve(scaled, (gradient / scale)[..., None])[..., 0]
    except np.linalg.LinAlgError:  # one of them is singular: the least of its solutions
        solved = np.einsum("bij,bj->bi", np.linalg.pinv(scaled), gradient / scale)
    return solved / scale
