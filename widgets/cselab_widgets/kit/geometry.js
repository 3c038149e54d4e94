// How vectors lie, as cselab.metrics measures it.
import { eigen } from "./linear.js";
import { Matrix } from "./autograd.js";

/** @param {number[]} x */
export const length = (x) => Math.hypot(...x);

/** @param {number[]} x */
export const onSphere = (x) => x.map((one) => one / (length(x) || 1));

/** @param {number[]} x @param {number[]} y */
export function inner(x, y) {
  let sum = 0;
  for (let c = 0; c < x.length; c++) sum += x[c] * y[c];
  return sum;
}

/** Mean squared distance of row i of one and of the other, on the sphere. @param {number[][]} x @param {number[][]} y */
export function alignment(x, y) {
  const squares = x.map((row, i) => 2 - 2 * inner(onSphere(row), onSphere(y[i])));
  return squares.reduce((sum, one) => sum + one, 0) / x.length;
}

/** log mean exp(-2 |x_i - x_j|^2) over the pairs of rows, on the sphere. @param {number[][]} rows */
export function uniformity(rows) {
  const x = rows.map(onSphere);
  let sum = 0;
  for (let i = 0; i < x.length; i++) for (let j = 0; j < i; j++) sum += Math.exp(4 * (inner(x[i], x[j]) - 1));
  return Math.log(sum / ((x.length * (x.length - 1)) / 2));
}

/** The singular values of the centred rows, largest first. @param {number[][]} rows */
export function singularValues(rows) {
  const x = Matrix.of(rows);
  const centred = x.minus(x.meanColumns());
  return eigen(centred.T.dot(centred).toRows()).values.map((value) => Math.sqrt(Math.max(value, 0)));
}

/** How many directions the rows use, counted by the entropy of their singular values. @param {number[][]} rows */
export function effectiveRank(rows) {
  const singular = singularValues(rows);
  const total = singular.reduce((sum, one) => sum + one, 0);
  if (total < 1e-12) return 0;
  const shares = singular.map((one) => one / total).filter((share) => share > 0);
  return Math.exp(-shares.reduce((sum, share) => sum + share * Math.log(share), 0));
}
