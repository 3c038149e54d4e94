// A bag of words in 8 dimensions, trained by SimCSE: the encoder, its noise, a step of Adam, its geometry. No drawing here.
//
// The vector of a sentence is the mean of its words' rows; noise is dropout on the entries of these, another mask a view.
import { normals, uniforms } from "../kit/draws.js";
import { alignment, effectiveRank, inner, onSphere, singularValues, spearman, uniformity } from "../kit/geometry.js";
import { Matrix, gradients } from "../kit/autograd.js";
import {
  barlowTwins, dimensionContrastive, focalInfoNce, infoNce, multiPositiveInfoNce, offDropoutInfoNce, shuffledGroupWhiten,
} from "../kit/losses.js";

/**
 * @typedef {{ loss: string, temperature: number, noise: number, batch: number, artificial: number, seed: number }} Settings
 * @typedef {{ step: number, loss: number, alignment: number, uniformity: number, "effective rank": number,
 *   spearman: number, rank: number }} Measured
 * @typedef {Settings & { words: number, sentences: number[][], first: number[][], second: number[][], grades: number[],
 *   runs: { number: number, settings: Settings, history: Measured[] }[] }} ToyState
 * @typedef {{ anchor: Matrix, positive: Matrix, second: () => Matrix, clean: () => Matrix, extra: Matrix | undefined,
 *   permutations: number[][] }} ToyViews
 */

const WIDTH = 8;
const GROUPS = 4;
const RATE = 0.03;
const CLOSE = 4; // pairs of this grade and above are positives, for alignment

/** @type {Record<string, (v: ToyViews, temperature: number) => Matrix>} */
export const TOY_LOSSES = {
  InfoNCE: (v, t) => infoNce(v.anchor, v.positive, t),
  "Focal-InfoNCE": (v, t) => focalInfoNce(v.anchor, v.positive, t, 0.3),
  "off-dropout": (v, t) => offDropoutInfoNce(v.anchor, v.positive, v.clean(), t, 0.9),
  "multi-positive": (v, t) => multiPositiveInfoNce(v.anchor, [v.positive, v.second()], t),
  whitening: (v, t) => {
    const [a, b] = [v.anchor, v.positive].map((x, k) => shuffledGroupWhiten(x, GROUPS, v.permutations[k]));
    return infoNce(a, b, t);
  },
  "InfoNCE + dimension-wise": (v, t) =>
    infoNce(v.anchor, v.positive, t).plus(dimensionContrastive(v.anchor, v.positive, 5 * t).times(0.1)),
  "Barlow Twins": (v) => {
    const [a, b] = [v.anchor, v.positive].map((x) => (v.extra ? x.above(v.extra) : x));
    return barlowTwins(a, b, 0.1);
  },
};

/** The words' rows before training: normal numbers, and a direction that all share: a cone. @param {ToyState} state */
export const untrained = ({ words, seed }) =>
  Matrix.of(Array.from({ length: words }, (_, w) => normals(seed * 6151 + w, WIDTH).map((x, c) => x + (c === 0 ? 2 : 0))));

/** A random order of so many. @param {number} count @param {() => number} next */
function shuffled(count, next) {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/**
 * The vectors of sentences: means of their words' rows.
 * @param {Matrix} rows
 * @param {number[][]} sentences
 * @param {Matrix} [mask] an entry for each word of each sentence
 */
export function encoded(rows, sentences, mask) {
  const tokens = sentences.flat();
  const looked = rows.rowsAt(tokens);
  const mean = new Float64Array(sentences.length * tokens.length);
  let at = 0;
  sentences.forEach((sentence, i) => sentence.forEach(() => (mean[i * tokens.length + at++] = 1 / sentence.length)));
  return new Matrix(sentences.length, tokens.length, mean).dot(mask ? looked.times(mask) : looked);
}

/** Dropout: an entry is 0 with the probability `noise`, else 1 / (1 - noise).
 * @param {number[][]} sentences @param {number} noise @param {() => number} next */
export function dropoutMask(sentences, noise, next) {
  const count = sentences.flat().length;
  const values = Float64Array.from({ length: count * WIDTH }, () => (next() < noise ? 0 : 1 / (1 - noise)));
  return new Matrix(count, WIDTH, values);
}

/**
 * The loss of a batch under some masks, and its gradient by the words' rows.
 * @param {Matrix} rows
 * @param {number[][]} batch
 * @param {{ masks: Matrix[], extra: Matrix | undefined, permutations: number[][] }} drawn
 * @param {Settings} settings
 */
export function lossAndGradient(rows, batch, { masks, extra, permutations }, { loss, temperature }) {
  const [anchor, positive] = [0, 1].map((view) => encoded(rows, batch, masks[view]));
  const second = () => encoded(rows, batch, masks[2]);
  const clean = () => encoded(rows, batch);
  const value = TOY_LOSSES[loss]({ anchor, positive, second, clean, extra, permutations }, temperature);
  const [gradient] = gradients(value, [rows]);
  return { value: value.value, gradient, anchor };
}

/** What a batch of these settings draws. @param {number[][]} batch @param {Settings} settings @param {() => number} next */
export function drawnFor(batch, settings, next) {
  const masks = [0, 1, 2].map(() => dropoutMask(batch, settings.noise, next));
  const { artificial } = settings;
  const fresh = Math.floor(next() * 2 ** 30);
  const extra = artificial ? Matrix.of(Array.from({ length: artificial }, (_, i) => normals(fresh + i, WIDTH))) : undefined;
  return { masks, extra, permutations: [shuffled(WIDTH, next), shuffled(WIDTH, next)] };
}

/** The graded sentences, encoded without noise: both sides. @param {Matrix} rows @param {ToyState} state */
export function sides(rows, { first, second }) {
  const table = rows.toRows();
  /** @param {number[]} sentence */
  const vector = (sentence) =>
    table[0].map((_, c) => sentence.reduce((sum, word) => sum + table[word][c], 0) / sentence.length);
  return [first.map(vector), second.map(vector)];
}

/** The pairs of like meaning. @param {ToyState} state */
export const closePairs = ({ grades }) => grades.flatMap((grade, i) => (grade >= CLOSE ? [i] : []));

/** The geometry of the graded sentences. @param {Matrix} rows @param {ToyState} state */
export function measured(rows, state) {
  const { grades } = state;
  const [x, y] = sides(rows, state);
  const close = closePairs(state);
  const cosine = x.map((row, i) => inner(onSphere(row), onSphere(y[i])));
  return {
    alignment: alignment(close.map((i) => x[i]), close.map((i) => y[i])),
    uniformity: uniformity([...x, ...y]),
    "effective rank": effectiveRank([...x, ...y]),
    spearman: spearman(cosine, grades),
  };
}

/** A run: rows, history, and `step`. @param {ToyState} state */
export function training(state) {
  const settings = settingsOf(state);
  const next = uniforms(state.seed * 99991 + 7);
  const rows = untrained(state);
  const [mean, square] = [0, 0].map(() => new Float64Array(rows.values.length));
  /** @type {Measured[]} */
  const history = [];
  let taken = 0;
  let [order, used] = [shuffled(state.sentences.length, next), 0];
  return {
    rows,
    history,
    settings,
    number: (state.runs.at(-1)?.number ?? -1) + 1,
    /** One step of Adam on the next batch; before every fifth the geometry is measured. */
    step() {
      if (used + settings.batch > order.length) [order, used] = [shuffled(order.length, next), 0];
      const batch = order.slice(used, (used += settings.batch)).map((i) => state.sentences[i]);
      const found = lossAndGradient(rows, batch, drawnFor(batch, settings, next), settings);
      const singular = singularValues(found.anchor.toRows());
      const rank = singular.filter((value) => value > 1e-6 * singular[0]).length; // of the centred batch
      if (taken % 5 === 0) history.push({ step: taken, loss: found.value, rank, ...measured(rows, state) });
      taken += 1;
      found.gradient.values.forEach((g, at) => {
        mean[at] = 0.9 * mean[at] + 0.1 * g;
        square[at] = 0.999 * square[at] + 0.001 * g * g;
        const ahead = mean[at] / (1 - 0.9 ** taken) / (Math.sqrt(square[at] / (1 - 0.999 ** taken)) + 1e-8);
        rows.values[at] -= RATE * ahead;
      });
    },
  };
}

/** @param {Settings} state @returns {Settings} */
export const settingsOf = ({ loss, temperature, noise, batch, artificial, seed }) => ({
  loss, temperature, noise, batch, artificial, seed,
});
