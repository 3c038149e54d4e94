// The losses of cselab.losses and cselab.sgw, term for term: views [n, d] to one number. See there for the papers.
import { eigen } from "./linear.js";
import { Matrix } from "./autograd.js";

const EPS = 1e-5; // added to a variance, as batch normalisation does

/** A row of zeros, of which dropout left nothing, stays one. @param {Matrix} x */
export const unit = (x) => x.over(x.square().sumRows().plus(1e-24).sqrt());

/** @param {Matrix} x @param {Matrix} y */
const cosines = (x, y) => unit(x).dot(unit(y).T);

/** How badly each row tells its own pair, on the diagonal, from the others. @param {Matrix} logits */
const contrast = (logits) => logits.logSumExp().minus(logits.diagonal()).mean();

/** @param {Matrix} positive @param {Matrix} [negatives] further ones, of all anchors */
const columns = (positive, negatives) => (negatives ? positive.above(negatives) : positive);

/** -log( exp(s_ii) / sum_j exp(s_ij) ), s = cos / temperature
 * @param {Matrix} anchor @param {Matrix} positive @param {number} temperature @param {Matrix} [negatives] */
export const infoNce = (anchor, positive, temperature, negatives) =>
  contrast(cosines(anchor, columns(positive, negatives)).over(temperature));

/** InfoNCE of p^2 for a positive's cosine, n (n + m) for a negative's
 * @param {Matrix} anchor @param {Matrix} positive @param {number} temperature @param {number} m
 * @param {Matrix} [negatives] */
export function focalInfoNce(anchor, positive, temperature, m, negatives) {
  const cosine = cosines(anchor, columns(positive, negatives));
  const factors = cosine.plus(m).withDiagonal(cosine.diagonal());
  return contrast(cosine.times(factors).over(temperature));
}

/** Positives from the noisy views, negatives from the one without noise, which m weighs
 * @param {Matrix} anchor @param {Matrix} positive @param {Matrix} clean @param {number} temperature @param {number} m
 * @param {Matrix} [negatives] */
export function offDropoutInfoNce(anchor, positive, clean, temperature, m, negatives) {
  const positives = cosines(anchor, positive).diagonal().over(temperature);
  const logits = cosines(clean, columns(clean, negatives)).over(temperature).plus(Math.log(m));
  return contrast(logits.withDiagonal(positives));
}

/** sum over the positives p of InfoNCE(anchor, p)
 * @param {Matrix} anchor @param {Matrix[]} positives @param {number} temperature */
export const multiPositiveInfoNce = (anchor, positives, temperature) =>
  positives.map((positive) => infoNce(anchor, positive, temperature)).reduce((one, other) => one.plus(other));

/** Each column with mean 0 and variance 1. @param {Matrix} x */
function standardised(x) {
  const centred = x.minus(x.meanColumns());
  return centred.over(centred.square().meanColumns().plus(EPS).sqrt());
}

/** InfoNCE of dimensions: s_cd = dot product over the batch, over n and the temperature
 * @param {Matrix} anchor @param {Matrix} positive @param {number} temperature */
export const dimensionContrastive = (anchor, positive, temperature) =>
  contrast(standardised(anchor).T.dot(standardised(positive)).over(anchor.rows).over(temperature));

/** sum_c (1 - C_cc)^2 + weight sum_{c != d} C_cd^2, C the cosines of dimensions over the batch
 * @param {Matrix} anchor @param {Matrix} positive @param {number} weight */
export function barlowTwins(anchor, positive, weight) {
  const correlation = cosines(anchor.T, positive.T);
  const diagonal = correlation.diagonal();
  const error = diagonal.minus(1).square().sum();
  return error.plus(correlation.square().sum().minus(diagonal.square().sum()).times(weight));
}

/** Channels in shuffled groups, each with unit variances and no correlation in this batch (ZCA). As in the released
 * WhitenedCSE the gradient flows through the centring, and takes the matrix as given.
 * @param {Matrix} x @param {number} groups @param {number[]} permutation the channels in their shuffled order */
export function shuffledGroupWhiten(x, groups, permutation, eps = 1e-6) {
  const centred = x.minus(x.meanColumns());
  const covariance = centred.T.dot(centred).over(x.rows).toRows();
  const size = x.columns / groups;
  const matrix = covariance.map((row) => row.map(() => 0));
  for (let group = 0; group < groups; group++) {
    const channels = permutation.slice(group * size, (group + 1) * size);
    const { values, axes } = eigen(channels.map((i) => channels.map((j) => covariance[i][j])));
    const roots = values.map((value) => 1 / Math.sqrt(Math.max(value, 0) + eps));
    channels.forEach((i, a) =>
      channels.forEach((j, b) => (matrix[i][j] = roots.reduce((sum, root, k) => sum + axes[a][k] * root * axes[b][k], 0))),
    );
  }
  return centred.dot(Matrix.of(matrix));
}
