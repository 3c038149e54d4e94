// Eigenvectors of the small symmetric matrices that a page meets.

const ROUNDING = 2 ** -52;

/**
 * Eigenvalues of a symmetric matrix, largest first, and its eigenvectors as columns (Jacobi's rotations).
 * @param {number[][]} symmetric
 * @returns {{ values: number[], axes: number[][] }}
 */
export function eigen(symmetric) {
  const n = symmetric.length;
  const a = symmetric.map((row) => [...row]);
  const axes = a.map((_, i) => a.map((__, j) => Number(i === j)));
  const tiny = ROUNDING * Math.max(...a.map((row) => Math.hypot(...row)));
  for (let left = true; left; ) {
    left = false;
    for (let p = 0; p < n; p++)
      for (let q = p + 1; q < n; q++) {
        if (!(Math.abs(a[p][q]) > tiny)) continue;
        left = true;
        const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
        const c = 1 / Math.hypot(t, 1);
        const turned = (/** @type {number} */ x, /** @type {number} */ y) => [c * x - t * c * y, t * c * x + c * y];
        for (let k = 0; k < n; k++) [a[k][p], a[k][q]] = turned(a[k][p], a[k][q]);
        for (let k = 0; k < n; k++) [a[p][k], a[q][k]] = turned(a[p][k], a[q][k]);
        for (let k = 0; k < n; k++) [axes[k][p], axes[k][q]] = turned(axes[k][p], axes[k][q]);
      }
  }
  const order = a.map((_, i) => i).sort((i, j) => a[j][j] - a[i][i]);
  return { values: order.map((i) => a[i][i]), axes: axes.map((row) => order.map((i) => row[i])) };
}
