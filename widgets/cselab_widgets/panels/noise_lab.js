// NoiseLab in a page: dropout passes as the inner products that Python carries, and the figure that noise_lab.py draws.
import { changed, counting, general } from "../kit/changed_figure.js";
import { numbers } from "../kit/numbers.js";

const KINDS = ["SimCSE", "+noise", "-noise", "off-dropout"];
const QUANTILES = { lowerfence: 0.05, q1: 0.25, median: 0.5, q3: 0.75, upperfence: 0.95 };
const TEMPERATURE = 0.05;
const ROWS = [
  ["SimCSE", "SimCSE", "SimCSE"],
  ["Pos. +Noise", "+noise", "SimCSE"],
  ["Pos. -Noise", "-noise", "SimCSE"],
  ["Neg. +Noise", "SimCSE", "+noise"],
  ["Neg. -Noise", "SimCSE", "-noise"],
  ["off-dropout", "SimCSE", "off-dropout"],
];

/** One of several matrices that are carried together. @param {any} carried @param {number} at */
const part = ({ shape: [, n, m], values }, at) => values.subarray(at * n * m, (at + 1) * n * m);

/** Positives [n] and negatives [n, n] of each kind of noise. @param {any} state @param {any} carried */
export function noiseCosines(state, carried) {
  const n = carried.clean.shape[0];
  const [ab, nb, an, nn] = counting(4, 0).map((at) => part(carried.inner, at));
  const [aa, sa, ss, bb, tb, tt] = counting(6, 0).map((at) => carried.squares.values.subarray(at * n, (at + 1) * n));
  const noisy = (/** @type {number} */ s) => {
    const one = aa.map((/** @type {number} */ x, /** @type {number} */ i) => Math.sqrt(x + 2 * s * sa[i] + s * s * ss[i]));
    const other = bb.map((/** @type {number} */ x, /** @type {number} */ j) => Math.sqrt(x + 2 * s * tb[j] + s * s * tt[j]));
    return Float64Array.from(ab, (x, at) => (x + s * (nb[at] + an[at]) + s * s * nn[at]) / (one[Math.floor(at / n)] * other[at % n]));
  };
  /** @type {Record<string, ArrayLike<number>>} */
  return {
    SimCSE: noisy(0),
    "+noise": noisy(Math.sqrt(state.variance)),
    "-noise": part(carried.means, state.mean_of - 1),
    "off-dropout": carried.clean.values,
  };
}

/** InfoNCE whose positives and negatives are of different kinds. @param {ArrayLike<number>} positives @param {ArrayLike<number>} negatives @param {number} n */
function decoupledLoss(positives, negatives, n) {
  let total = 0;
  for (let i = 0; i < n; i++) {
    const own = positives[i * n + i] / TEMPERATURE;
    let sum = 1;
    for (let j = 0; j < n; j++) if (j !== i) sum += Math.exp(negatives[i * n + j] / TEMPERATURE - own);
    total += Math.log(sum) / n;
  }
  return total;
}

/** The rows of table 1, and off-dropout. @param {Record<string, ArrayLike<number>>} cosines @param {number} n */
export const noiseLosses = (cosines, n) => ROWS.map(([, positives, negatives]) => decoupledLoss(cosines[positives], cosines[negatives], n));

/** @param {number[]} sorted @param {number} share */
function quantile(sorted, share) {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

/** The cloud of a sentence in its plane: passes, means of K, the neighbour's passes. @param {any} state @param {any} carried */
function cloudOf({ sentence, mean_of: k }, { passes, gram, centres, others }) {
  const [, count] = passes.shape;
  const [raw, products, other] = [passes, gram, others].map((one) => part(one, sentence));
  const [x0, y0] = centres.values.subarray(2 * sentence, 2 * sentence + 2);
  const mean = (/** @type {number} */ first, /** @type {number} */ size) => {
    let [x, y, square] = [0, 0, 0];
    for (let p = first; p < first + size; p++) {
      x += raw[2 * p];
      y += raw[2 * p + 1];
      for (let q = first; q < first + size; q++) square += products[p * count + q];
    }
    const length = Math.sqrt(square);
    return [x / length - x0, y / length - y0];
  };
  return {
    dropout: counting(count, 0).map((p) => mean(p, 1)),
    "means of K": counting(Math.floor(count / k), 0).map((set) => mean(set * k, k)),
    "off-dropout": [[0, 0]],
    "nearest other": counting(count, 0).map((p) => [other[2 * p], other[2 * p + 1]]),
  };
}

/** The cloud, the cosines, how the variance falls, and what training made of it. @param {any} state @param {any} carried @param {Record<string, ArrayLike<number>>} cosines */
function inWords(state, carried, cosines) {
  const { sentences, nearest, radius, distance, falling, trained } = carried;
  const [n, row, k] = [radius.length, state.sentence, state.mean_of];
  const beyond = radius.filter((/** @type {number} */ one, /** @type {number} */ i) => one > distance[i]).length;
  const share = (state.variance / carried.mean_square).toFixed(3);
  /** @type {Record<string, string>} */
  const settings = { "+noise": `  (variance ${general(state.variance, 6)}, ${share} of a coordinate's mean square)`, "-noise": `  (K = ${k})` };
  const mean = (/** @type {number[]} */ values) => values.reduce((sum, one) => sum + one, 0) / values.length;
  const lines = KINDS.map((kind) => {
    const [positives, negatives] = [0, 1].map((side) => Array.from(cosines[kind]).filter((_, at) => (at % n === Math.floor(at / n)) === !side));
    const spread = Math.sqrt(mean(negatives.map((one) => (one - mean(negatives)) ** 2)));
    const words = `positives ${mean(positives).toFixed(3)}  negatives ${mean(negatives).toFixed(3)} ± ${spread.toFixed(3)}`;
    return `  ${kind.padEnd(11)}  ${words}${settings[kind] ?? ""}`;
  });
  const [variance, way] = [0, 1].map((at) => falling[at][k - 1].toFixed(3));
  return [
    `Dropout noise of ${carried.passes.shape[1]} passes over ${n} sentences`,
    `  ${sentences[row]}: cloud of radius ${radius[row].toFixed(3)}, nearest other sentence at ${distance[row].toFixed(3)}: ${sentences[nearest[row]]}`,
    `  ${beyond} of ${n} clouds have a radius larger than the distance to the nearest sentence`,
    ...lines,
    `  mean of ${k}: variance ${variance} of one pass (1/K ${(1 / k).toFixed(3)}), squared distance to off-dropout ${way}`,
    ...trained,
  ].join("\n");
}

/** @param {any} state @param {any} given what Python carries */
export function figureOf(state, given) {
  const carried = numbers(given);
  const { radius, distance, figure } = carried;
  const [n, row] = [radius.length, state.sentence];
  const cosines = noiseCosines(state, carried);
  const clouds = cloudOf(state, carried);
  const ring = counting(73, 0).map((turn) => [Math.cos, Math.sin].map((f) => radius[row] * f((2 * Math.PI * turn) / 72)));
  const everything = [...ring, ...Object.values(clouds).flat()];
  const ends = [0, 1].map((axis) => {
    const values = everything.map((point) => point[axis]);
    return [Math.min(...values), Math.max(...values)];
  });
  const half = 0.54 * Math.max(...ends.map(([low, high]) => high - low));
  const [width, height] = ends.map(([low, high]) => ({ range: [(low + high) / 2 - half, (low + high) / 2 + half] }));
  const points = (/** @type {number[][]} */ all) => ({ x: all.map(([x]) => x), y: all.map(([, y]) => y) });

  /** @type {Record<string, any>} */
  const traces = { ring: points(ring), losses: { x: noiseLosses(cosines, n) } };
  for (const [name, all] of Object.entries(clouds)) traces[name] = points(all);
  const [plain, chosen] = carried.colors;
  const here = radius.map((/** @type {number} */ _, /** @type {number} */ i) => i === row);
  traces.radii = {
    marker: { color: here.map((/** @type {boolean} */ is) => (is ? chosen : plain)), size: here.map((/** @type {boolean} */ is) => (is ? 13 : 8)) },
  };
  for (const side of ["positives", "negatives"]) {
    const sorted = KINDS.map((kind) =>
      Array.from(cosines[kind]).filter((_, at) => (at % n === Math.floor(at / n)) === (side === "positives")).sort((a, b) => a - b),
    );
    traces[side] = Object.fromEntries(Object.entries(QUANTILES).map(([key, share]) => [key, sorted.map((values) => quantile(values, share))]));
  }
  const size = counting(carried.means.shape[0]).map((k) => (k === state.mean_of ? 13 : 6));
  for (const name of ["1/K", "variance of the mean", "distance² to off-dropout"]) traces[name] = { marker: { size } };
  const title = `Radius ${radius[row].toFixed(2)}, neighbour at ${distance[row].toFixed(2)}`;
  return { ...changed(figure, traces, { 0: { title, x: width, y: height } }), words: inWords(state, carried, cosines), note: carried.note };
}
