// Linear algebra on plain arrays of numbers, quick enough to answer a hand: products, eigenvectors, singular values.
// A matrix [n, m] is a Float64Array of n m numbers, row by row.

const ROUNDING = 2 ** -52;

/** a [n, k] times b [k, m]; four rows of b at a time, which is twice as quick as one.
 * @param {Float64Array} a @param {number} n @param {number} k @param {Float64Array} b @param {number} m */
export function product(a, n, k, b, m) {
  const c = new Float64Array(n * m);
  for (let i = 0; i < n; i++) {
    const row = c.subarray(i * m, (i + 1) * m);
    let l = 0;
    for (; l + 3 < k; l += 4) {
      const at = i * k + l;
      const [a0, a1, a2, a3] = [a[at], a[at + 1], a[at + 2], a[at + 3]];
      const b0 = l * m;
      const [b1, b2, b3] = [b0 + m, b0 + 2 * m, b0 + 3 * m];
      for (let j = 0; j < m; j++) row[j] += a0 * b[b0 + j] + a1 * b[b1 + j] + a2 * b[b2 + j] + a3 * b[b3 + j];
    }
    for (; l < k; l++) {
      const one = a[i * k + l];
      for (let j = 0; j < m; j++) row[j] += one * b[l * m + j];
    }
  }
  return c;
}

/** @param {Float64Array} a [n, m] @param {number} n @param {number} m */
export function transposed(a, n, m) {
  const b = new Float64Array(n * m);
  for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) b[j * n + i] = a[i * m + j];
  return b;
}

/** The inner products of the rows, [n, n]. @param {Float64Array} a [n, m] @param {number} n @param {number} m */
export const gram = (a, n, m) => product(a, n, m, transposed(a, n, m), n);

/** The columns without their means. @param {Float64Array} a [n, m] @param {number} n @param {number} m */
export function centredColumns(a, n, m) {
  const means = new Float64Array(m);
  for (let at = 0; at < n * m; at++) means[at % m] += a[at] / n;
  return a.map((x, at) => x - means[at % m]);
}

/** The Householder vector v of x[from:], with v^T v = 2, so that x - v (v^T x) is 0 after its first entry.
 * @param {(i: number) => number} x @param {number} from @param {number} n */
function reflection(x, from, n) {
  const v = new Float64Array(n);
  let square = 0;
  for (let i = from; i < n; i++) square += (v[i] = x(i)) ** 2;
  if (square === v[from] ** 2) return { v: v.fill(0), first: v[from] || x(from) }; // nothing is to be removed
  const first = v[from] > 0 ? -Math.sqrt(square) : Math.sqrt(square);
  v[from] -= first;
  const scale = Math.sqrt(2 / (square - 2 * first * (v[from] + first) + first * first));
  for (let i = from; i < n; i++) v[i] *= scale;
  return { v, first };
}

/** Eigenvalues of a symmetric tridiagonal matrix, in place of its diagonal d (implicit QL); e holds what stands beside
 * it, and the rows of z, if given, become the eigenvectors in the base that z is.
 * @param {Float64Array} d @param {Float64Array} e @param {Float64Array} [z] */
function diagonalised(d, e, z) {
  const n = d.length;
  const tiny = ROUNDING * d.reduce((most, x, i) => Math.max(most, Math.abs(x) + Math.abs(e[i])), 0);
  for (let l = 0; l < n; l++)
    for (;;) {
      let m = l;
      while (m < n - 1 && Math.abs(e[m]) > tiny) m++;
      if (m === l) break;
      let g = (d[l + 1] - d[l]) / (2 * e[l]);
      g = d[m] - d[l] + e[l] / (g + Math.sqrt(g * g + 1) * (g < 0 ? -1 : 1));
      let [s, c, p, r] = [1, 1, 0, 1];
      let i = m - 1;
      for (; i >= l; i--) {
        const [f, b] = [s * e[i], c * e[i]];
        r = e[i + 1] = Math.sqrt(f * f + g * g);
        if (r === 0) {
          d[i + 1] -= p;
          e[m] = 0;
          break;
        }
        [s, c] = [f / r, g / r];
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        if (!z) continue;
        for (let k = i * n, end = k + n; k < end; k++) {
          const [one, other] = [z[k], z[k + n]];
          z[k] = c * one - s * other;
          z[k + n] = s * one + c * other;
        }
      }
      if (r === 0 && i >= l) continue;
      d[l] -= p;
      e[l] = g;
      e[m] = 0;
    }
}

/** Eigenvalues of a symmetric matrix, largest first, and, if asked for, the eigenvectors as rows, largest entry positive.
 * @param {Float64Array} symmetric [n, n] @param {number} n @param {boolean} vectors */
export function symmetricEigen(symmetric, n, vectors = true) {
  const a = symmetric.slice();
  const e = new Float64Array(n);
  const turns = [];
  for (let k = 0; k < n - 2; k++) {
    const { v, first } = reflection((i) => a[i * n + k], k + 1, n);
    const w = new Float64Array(n);
    for (let i = k + 1; i < n; i++) {
      let sum = 0;
      for (let j = k + 1; j < n; j++) sum += a[i * n + j] * v[j];
      w[i] = sum;
    }
    let half = 0;
    for (let i = k + 1; i < n; i++) half += (v[i] * w[i]) / 2;
    for (let i = k + 1; i < n; i++) w[i] -= half * v[i];
    for (let i = k + 1; i < n; i++) {
      const [x, y] = [v[i], w[i]];
      for (let j = k + 1; j < n; j++) a[i * n + j] -= x * w[j] + y * v[j];
    }
    e[k] = first;
    turns.push(v);
  }
  if (n > 1) e[n - 2] = a[n * n - 2];
  const d = Float64Array.from({ length: n }, (_, i) => a[i * n + i]);
  const z = vectors ? new Float64Array(n * n) : undefined;
  if (z) for (let i = 0; i < n; i++) z[i * n + i] = 1;
  diagonalised(d, e, z);
  const order = Array.from(d.keys()).sort((i, j) => d[j] - d[i]);
  const axes = new Float64Array(z ? n * n : 0);
  if (z)
    order.forEach((i, k) => {
      const axis = axes.subarray(k * n, (k + 1) * n);
      axis.set(z.subarray(i * n, (i + 1) * n));
      for (let t = turns.length - 1; t >= 0; t--) {
        const v = turns[t];
        let inner = 0;
        for (let j = t + 1; j < n; j++) inner += v[j] * axis[j];
        for (let j = t + 1; j < n; j++) axis[j] -= inner * v[j];
      }
      if (axis.reduce((most, x) => (Math.abs(x) > Math.abs(most) ? x : most), 0) < 0) axis.forEach((x, j) => (axis[j] = -x));
    });
  return { values: Float64Array.from(order, (i) => d[i]), axes };
}

/** The singular values of a square matrix, largest first; it may be left in between. @param {Float64Array} square [n, n] @param {number} n */
export function* singularValueSteps(square, n) {
  const a = square.slice();
  const between = new Float64Array(2 * n); // the diagonal and what stands above it, in turns
  for (let k = 0; k < n; k++) {
    const left = reflection((i) => a[i * n + k], k, n);
    const sums = new Float64Array(n);
    for (let i = k; i < n; i++) for (let j = k, x = left.v[i]; j < n; j++) sums[j] += x * a[i * n + j];
    for (let i = k; i < n; i++) for (let j = k, x = left.v[i]; j < n; j++) a[i * n + j] -= x * sums[j];
    between[2 * k] = left.first;
    if (k === n - 1) break;
    const right = reflection((j) => a[k * n + j], k + 1, n);
    for (let i = k + 1; i < n; i++) {
      let inner = 0;
      for (let j = k + 1; j < n; j++) inner += a[i * n + j] * right.v[j];
      for (let j = k + 1; j < n; j++) a[i * n + j] -= inner * right.v[j];
    }
    between[2 * k + 1] = right.first;
    yield;
  }
  const d = new Float64Array(2 * n); // Golub and Kahan: the eigenvalues of [[0, B], [B^T, 0]] are those of B and their negatives
  diagonalised(d, between);
  return d.sort().reverse().slice(0, n).map((value) => Math.max(value, 0));
}

/** L of a = L L^T; where a has no more directions the columns are 0. @param {Float64Array} a [n, n] @param {number} n */
export function cholesky(a, n) {
  const l = new Float64Array(n * n);
  let largest = 0;
  for (let i = 0; i < n; i++) largest = Math.max(largest, a[i * n + i]);
  for (let j = 0; j < n; j++)
    for (let i = j; i < n; i++) {
      let left = a[i * n + j];
      for (let k = 0; k < j; k++) left -= l[i * n + k] * l[j * n + k];
      if (i === j) l[i * n + i] = left > 1e-12 * largest ? Math.sqrt(left) : 0;
      else l[i * n + j] = l[j * n + j] && left / l[j * n + j];
    }
  return l;
}

/**
 * Eigenvalues of a symmetric matrix, largest first, and its eigenvectors as columns.
 * @param {number[][]} symmetric
 * @returns {{ values: number[], axes: number[][] }}
 */
export function eigen(symmetric) {
  const n = symmetric.length;
  const { values, axes } = symmetricEigen(Float64Array.from(symmetric.flat()), n);
  return { values: Array.from(values), axes: symmetric.map((_, i) => symmetric.map((_, j) => axes[j * n + i])) };
}
