// Points on a circle or a sphere: what each loss wants of them, a step of descent, and how they lie. No drawing here.
//
// A state is what Python's Sphere holds: anchors and positives, a row a sentence; further negatives, of all anchors;
// loss, temperature, noise, seed. Noise stands for dropout: a view is a point plus noise times a fixed draw.
import { normals } from "../kit/draws.js";
import { inner, length, onSphere } from "../kit/geometry.js";
import { Matrix, gradients } from "../kit/autograd.js";
import {
  barlowTwins, dimensionContrastive, focalInfoNce, infoNce, multiPositiveInfoNce, offDropoutInfoNce, shuffledGroupWhiten,
} from "../kit/losses.js";

/**
 * @typedef {{ anchors: number[][], positives: number[][], negatives: number[][], loss: string, temperature: number,
 *   noise: number, seed: number }} SphereState
 * @typedef {"anchors" | "positives" | "negatives"} Kind
 * @typedef {{ anchor: Matrix, positive: Matrix, second: Matrix, clean: Matrix, negatives: Matrix | undefined }} SphereViews
 */

/** @type {Kind[]} */
export const KINDS = ["anchors", "positives", "negatives"];

/** @param {Matrix} x */
const whitened = (x) => shuffledGroupWhiten(x, 1, Array.from({ length: x.columns }, (_, i) => i));

/** @type {Record<string, { of: (v: SphereViews, temperature: number) => Matrix, says: string, takesNegatives?: boolean }>} */
export const SPHERE_LOSSES = {
  InfoNCE: {
    of: (v, t) => infoNce(v.anchor, v.positive, t, v.negatives),
    says: "An anchor is pulled to its positive and pushed away from the positives of the others. The lower the temperature, the more of the push comes from the nearest alone.",
    takesNegatives: true,
  },
  "Focal-InfoNCE": {
    of: (v, t) => focalInfoNce(v.anchor, v.positive, t, 0.3, v.negatives),
    says: "A negative's cosine n counts as n (n + 0.3), a positive's p as p\u00b2: near negatives are pushed harder, those below a cosine of \u22120.15 are pulled.",
    takesNegatives: true,
  },
  "off-dropout": {
    of: (v, t) => offDropoutInfoNce(v.anchor, v.positive, v.clean, t, 0.9, v.negatives),
    says: "Positives with noise, negatives without: anchors push each other apart, and a positive is only pulled. The negatives weigh 0.9.",
    takesNegatives: true,
  },
  "dimension-wise": {
    of: (v, t) => dimensionContrastive(v.anchor, v.positive, t),
    says: "Dimensions are contrasted, not sentences: each coordinate should vary alike in both views and unlike the other coordinates. What is near what does not count.",
  },
  "Barlow Twins": {
    of: (v) => barlowTwins(v.anchor, v.positive, 1),
    says: "The cosines of coordinates over the batch should be 1 with themselves in the other view and 0 with the others (weighed equally here). Nothing pushes two sentences apart.",
  },
  whitening: {
    of: (v, t) => infoNce(whitened(v.anchor), whitened(v.positive), t),
    says: "InfoNCE after each view is whitened (WhitenedCSE, all coordinates in one group): a cone is opened before the loss sees it. The whitening matrix is taken as given, as in the released code.",
  },
  "multi-positive": {
    of: (v, t) => multiPositiveInfoNce(v.anchor, [v.positive, v.second], t),
    says: "Two positives for each anchor: the one that is drawn, and the same point with other noise. Without noise, twice InfoNCE.",
  },
};

/** The noise of a point: another for each row and each view. @param {SphereState} state @param {number} view */
const noiseMatrix = (state, view) =>
  Matrix.of(state.anchors.map((row, i) => normals(state.seed * 7919 + view * 977 + i, row.length))).times(state.noise);

/** Why the loss cannot be computed of so few sentences; nothing if it can. @param {SphereState} state */
export function refusal({ anchors, loss }) {
  const dimensions = anchors[0].length;
  return loss === "whitening" && anchors.length <= dimensions
    ? `Whitening ${dimensions} coordinates needs a batch of ${dimensions + 1} or more: fewer sentences have a singular covariance.`
    : "";
}

/**
 * The loss, and on each point its force: the negative gradient, along the sphere.
 * @param {SphereState} state
 * @returns {{ value: number } & Record<Kind, number[][]>}
 */
export function forces(state) {
  const given = KINDS.map((kind) => (state[kind].length ? Matrix.of(state[kind]) : undefined));
  const [clean, positives, negatives] = given;
  if (!clean || !positives) throw new Error("no sentences");
  const second = positives.plus(noiseMatrix(state, 2));
  const anchor = clean.plus(noiseMatrix(state, 0));
  const positive = positives.plus(noiseMatrix(state, 1));
  const loss = SPHERE_LOSSES[state.loss].of({ anchor, positive, second, clean, negatives }, state.temperature);
  const found = gradients(loss, given.filter((one) => one !== undefined)).map((gradient) => gradient.toRows());
  const [first, other, third = []] = found.map((rows, k) => rows.map((row, i) => tangent(state[KINDS[k]][i], row)));
  return { value: loss.value, anchors: first, positives: other, negatives: third };
}

/** Minus a gradient, without its part that would leave the sphere. @param {number[]} x @param {number[]} gradient */
function tangent(x, gradient) {
  const out = inner(x, gradient);
  return gradient.map((one, c) => out * x[c] - one);
}

/** @param {Record<Kind, number[][]>} found */
export const strongest = (found) => Math.max(...KINDS.flatMap((kind) => found[kind].map(length)));

const FARTHEST = 0.05; // radians that a point moves in one step, at most
const REST = 1e-4; // radians: less is rest

/**
 * Gradient descent on the sphere. The rate is halved whenever the loss rose, and grows slowly otherwise.
 * @param {SphereState} state
 */
export function descent(state) {
  let [rate, before] = [Infinity, Infinity];
  return {
    /** One step, in place. @returns whether it rests */
    step() {
      const found = forces(state);
      const limit = FARTHEST / Math.max(strongest(found), 1e-12);
      rate = Math.min(found.value > before ? rate / 2 : rate * 1.05, limit, 1e3);
      before = found.value;
      for (const kind of KINDS)
        state[kind] = state[kind].map((x, i) => onSphere(x.map((one, c) => one + rate * found[kind][i][c])));
      return rate * strongest(found) < REST;
    },
  };
}

/** @type {Record<string, (point: number[], i: number, n: number) => number[]>} */
export const STARTS = {
  anywhere: (point) => point,
  "a narrow cone": (point) => point.map((one, c) => 0.25 * one + (c === 1 ? 1 : 0)),
  "two groups": (point, i, n) => point.map((one, c) => 0.25 * one + (c === 0 ? (i < n / 2 ? 1 : -1) : 0)),
};

/**
 * Anchors at random, positives near them, negatives at random.
 * @param {SphereState} state whose numbers of points and dimensions are kept
 * @param {string} start @param {number} seed
 */
export function startAgain(state, start, seed) {
  const d = state.anchors[0].length;
  const n = state.anchors.length;
  /** @param {number} i */
  const point = (i) => onSphere(STARTS[start](onSphere(normals(seed * 104729 + i, d)), i, n));
  const anchors = state.anchors.map((_, i) => point(i));
  const positives = anchors.map((x, i) => near(x, seed * 15485863 + i));
  const negatives = state.negatives.map((_, i) => point(5000 + i));
  Object.assign(state, { anchors, positives, negatives });
}

/** @param {number[]} x @param {number} seed */
export const near = (x, seed) => onSphere(x.map((one, c) => one + 0.3 * normals(seed, x.length)[c]));

/** As many sentences and negatives as asked; those that are there stay. @param {SphereState} state
 * @param {number} sentences @param {number} negatives */
export function resize(state, sentences, negatives) {
  const d = state.anchors[0].length;
  /** @param {number} i */
  const fresh = (i) => onSphere(normals(state.seed * 31 + 17 * i + 3, d));
  while (state.anchors.length < sentences) {
    const x = fresh(state.anchors.length);
    state.positives = [...state.positives, near(x, state.anchors.length)];
    state.anchors = [...state.anchors, x];
  }
  while (state.negatives.length < negatives) state.negatives = [...state.negatives, fresh(900 + state.negatives.length)];
  state.anchors = state.anchors.slice(0, sentences);
  state.positives = state.positives.slice(0, sentences);
  state.negatives = state.negatives.slice(0, negatives);
}

/** From the circle to the sphere and back. @param {SphereState} state @param {number} dimensions */
export function inDimensions(state, dimensions) {
  for (const kind of KINDS)
    state[kind] = state[kind].map((x, i) =>
      onSphere(dimensions === 2 ? [x[0], x[1]] : [x[0], x[1], 0.6 * normals(7 * i + KINDS.indexOf(kind), 1)[0]]),
    );
}
