// A bag of words in 8 dimensions, trained by SimCSE: the encoder, its noise, a step of Adam, its geometry. No drawing here.
//
// The vector of a sentence is the mean of its words' rows; noise is dropout on the entries of these, another mask a view.
import { normals, uniforms } from "../kit/draws.js";
import { alignment, effectiveRank, inner, onSphere, singularValues, uniformity } from "../kit/geometry.js";
import { eigen } from "../kit/linear.js";
import { Matrix, gradients } from "../kit/autograd.js";
import {
  barlowTwins, dimensionContrastive, focalInfoNce, infoNce, multiPositiveInfoNce, offDropoutInfoNce, shuffledGroupWhiten,
} from "../kit/losses.js";

/**
 * @typedef {{ loss: string, temperature: number, noise: number, batch: number, artificial: number, seed: number }} Settings
 * @typedef {{ step: number, loss: number, "same topic": number, alignment: number, uniformity: number,
 *   "effective rank": number, rank: number }} Measured
 * @typedef {Settings & { sentences: string[], topics: string[], typed: string[],
 *   runs: { number: number, settings: Settings, history: Measured[] }[] }} ToyState
 * @typedef {{ vocabulary: Map<string, number>, bags: number[][], topics: string[], texts: string[] }} Corpus
 * @typedef {{ anchor: Matrix, positive: Matrix, second: () => Matrix, clean: () => Matrix, extra: Matrix | undefined,
 *   permutations: number[][] }} ToyViews
 */

const WIDTH = 8;
const GROUPS = 4;
const RATE = 0.03;
const [SPREAD, CONE] = [0.3, 1.2]; // of a word's numbers before training, and what all words share
const NEIGHBOURS = 5;
const MEASURED_OF_A_TOPIC = 40; // sentences that are drawn and measured
const SMALL_WORDS = new Set(
  "didn doesn isn wasn aren weren a an the some was is are were be been being has have had do does did not it that who in of to on at for by".split(" "));

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

/**
 * The words of a text that count, each with its root: endings and doubled letters are cut, so that "chopped" is "chops".
 * @param {string} text
 */
export const wordsIn = (text) =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((word) => word.length > 1 && !SMALL_WORDS.has(word))
    .map((word) => ({ word, root: word.replace(/(?<=\p{L}{3})(ing|ed|es|s|e)$/u, "").replace(/(.)\1$/, "$1") }));

/** The sentences of a state as bags of numbered words. @param {ToyState} state @returns {Corpus} */
export function corpusOf({ sentences, topics }) {
  /** @type {Map<string, number>} */
  const vocabulary = new Map();
  const bags = sentences.map((text) => wordsIn(text).map(({ root }) => {
    if (!vocabulary.has(root)) vocabulary.set(root, vocabulary.size);
    return vocabulary.get(root) ?? 0;
  }));
  const kept = bags.flatMap((bag, i) => (bag.length ? [i] : []));
  return {
    vocabulary,
    bags: kept.map((i) => bags[i]),
    topics: kept.map((i) => topics[i]),
    texts: kept.map((i) => sentences[i]),
  };
}

/** The bag of a reader's sentence, and the words that are not in the vocabulary. @param {string} text @param {Corpus} corpus */
export function bagOf(text, { vocabulary }) {
  const words = wordsIn(text);
  return {
    bag: words.flatMap(({ root }) => vocabulary.get(root) ?? []),
    first: words.find(({ root }) => vocabulary.has(root))?.word ?? "",
    unknown: words.flatMap(({ word, root }) => (vocabulary.has(root) ? [] : [word])),
  };
}

/** The sentences that are drawn and measured: the first of each topic. @param {Corpus} corpus @returns {Corpus} */
export function measuredPart(corpus) {
  /** @type {Record<string, number>} */
  const seen = {};
  const kept = corpus.topics.flatMap((topic, i) => ((seen[topic] = (seen[topic] ?? 0) + 1) <= MEASURED_OF_A_TOPIC ? [i] : []));
  return {
    vocabulary: corpus.vocabulary,
    bags: kept.map((i) => corpus.bags[i]),
    topics: kept.map((i) => corpus.topics[i]),
    texts: kept.map((i) => corpus.texts[i]),
  };
}

/** The words' rows before training: normal numbers, and a direction that all share: a cone.
 * @param {Corpus} corpus @param {number} seed */
export const untrained = ({ vocabulary }, seed) =>
  Matrix.of(Array.from({ length: vocabulary.size }, (_, w) => normals(seed * 6151 + w, WIDTH).map((x, c) => SPREAD * x + (c === 0 ? CONE : 0))));

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
  return { value: value.value, gradient, anchor, positive };
}

/** What a batch of these settings draws. @param {number[][]} batch @param {Settings} settings @param {() => number} next */
export function drawnFor(batch, settings, next) {
  const masks = [0, 1, 2].map(() => dropoutMask(batch, settings.noise, next));
  const { artificial } = settings;
  const fresh = Math.floor(next() * 2 ** 30);
  const extra = artificial ? Matrix.of(Array.from({ length: artificial }, (_, i) => normals(fresh + i, WIDTH))) : undefined;
  return { masks, extra, permutations: [shuffled(WIDTH, next), shuffled(WIDTH, next)] };
}

/** Bags as unit vectors, without noise. @param {Matrix} rows @param {number[][]} bags */
export function vectorsOf({ values }, bags) {
  return bags.map((bag) => {
    const sum = new Array(WIDTH).fill(0);
    for (const word of bag) for (let c = 0; c < WIDTH; c++) sum[c] += values[word * WIDTH + c];
    return onSphere(sum);
  });
}

/** The share of each vector's five nearest that have its topic. @param {number[][]} x @param {string[]} topics */
export function sameTopic(x, topics) {
  let same = 0;
  const count = Math.min(NEIGHBOURS, x.length - 1);
  x.forEach((one, i) => {
    const cosines = x.map((other, j) => (i === j ? -2 : inner(one, other)));
    for (let k = 0; k < count; k++) {
      const nearest = cosines.indexOf(Math.max(...cosines));
      same += Number(topics[nearest] === topics[i]);
      cosines[nearest] = -2;
    }
  });
  return same / (count * x.length);
}

/** The geometry of sentences. @param {Matrix} rows @param {Corpus} part */
export function measured(rows, part) {
  const x = vectorsOf(rows, part.bags);
  return { "same topic": sameTopic(x, part.topics), uniformity: uniformity(x), "effective rank": effectiveRank(x) };
}

/** The matrix with orthonormal columns that is nearest to a [d, 2] one. @param {number[][]} a */
export function orthonormal(a) {
  const square = [0, 1].map((i) => [0, 1].map((j) => a.reduce((sum, row) => sum + row[i] * row[j], 0)));
  const { values, axes } = eigen(square);
  const root = [0, 1].map((i) => [0, 1].map((j) =>
    values.reduce((sum, value, k) => sum + (axes[i][k] * axes[j][k]) / Math.sqrt(Math.max(value, 1e-18)), 0)));
  return a.map((row) => [0, 1].map((j) => row[0] * root[0][j] + row[1] * root[1][j]));
}

/** The angle of a place on the rim, of so many. @param {number} slot @param {number} count */
export const angleOf = (slot, count) => Math.PI / 2 - (2 * Math.PI * slot) / count;

/** How well the topics' means point to their places on the rim, [d, 2]. @param {number[][]} means @param {number[]} slots */
const pulls = (means, slots) => means[0].map((_, c) =>
  [Math.cos, Math.sin].map((side) => means.reduce((sum, mean, k) => sum + mean[c] * side(angleOf(slots[k], slots.length)), 0)));

/** The sum of the singular values of a [d, 2] matrix. @param {number[][]} a */
function nuclear(a) {
  const [xx, xy, yy] = [[0, 0], [0, 1], [1, 1]].map(([i, j]) => a.reduce((sum, row) => sum + row[i] * row[j], 0));
  return Math.sqrt(xx + yy + 2 * Math.sqrt(Math.max(0, xx * yy - xy * xy)));
}

/**
 * The plane in which the topics' means lie farthest apart, each towards a place of its own on the rim (orthogonal Procrustes):
 * `plane` [d, 2], and `slots`, the places of the topics, of which two may be exchanged if the topics then lie farther apart.
 * @param {number[][]} x
 * @param {string[]} topics
 * @param {number[]} slots
 */
export function planeOf(x, topics, slots) {
  const means = [...new Set(topics)].map((name) => {
    const members = x.filter((_, i) => topics[i] === name);
    return x[0].map((_, c) => members.reduce((sum, one) => sum + one[c], 0) / members.length);
  });
  let [best, most] = [slots, 1.03 * nuclear(pulls(means, slots))]; // not for a trifle: the eye follows
  slots.forEach((slot, i) => slots.slice(0, i).forEach((other, j) => {
    const exchanged = slots.with(i, other).with(j, slot);
    const found = nuclear(pulls(means, exchanged));
    if (found > most) [best, most] = [exchanged, found];
  }));
  return { plane: orthonormal(pulls(means, best)), slots: best };
}

/** A run: rows, history, and `step`. @param {ToyState} state @param {Corpus} corpus */
export function training(state, corpus) {
  const settings = settingsOf(state);
  const next = uniforms(state.seed * 99991 + 7);
  const rows = untrained(corpus, state.seed);
  const part = measuredPart(corpus);
  const own = state.typed.map((text) => bagOf(text, corpus).bag).filter((bag) => bag.length);
  const bags = [...corpus.bags, ...own];
  const [mean, square] = [0, 0].map(() => new Float64Array(rows.values.length));
  /** @type {Measured[]} */
  const history = [];
  let taken = 0;
  let [order, used] = [shuffled(bags.length, next), 0];
  return {
    rows,
    history,
    settings,
    number: (state.runs.at(-1)?.number ?? -1) + 1,
    /** One step of Adam on the next batch; before every twentieth the geometry is measured. */
    step() {
      if (used + settings.batch > order.length) [order, used] = [shuffled(order.length, next), 0];
      const batch = order.slice(used, (used += settings.batch)).map((i) => bags[i]);
      const found = lossAndGradient(rows, batch, drawnFor(batch, settings, next), settings);
      if (taken % 20 === 0) {
        const [anchor, positive] = [found.anchor.toRows(), found.positive.toRows()];
        const singular = singularValues(anchor);
        const rank = singular.filter((value) => value > 1e-6 * singular[0]).length; // of the centred batch
        const apart = alignment(anchor, positive);
        history.push({ step: taken, loss: found.value, rank, alignment: apart, ...measured(rows, part) });
      }
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
