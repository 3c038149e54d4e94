// RankLab in a page: the cross-correlation of two views, its singular values, and both losses on their way down; the
// formulas of cselab.losses.dimension_wise and cselab.metrics.rank_bottleneck, and the figure that rank_lab.py draws.
import { changed, counting, general, matrixAxes } from "../kit/changed_figure.js";
import { normals } from "../kit/draws.js";
import { centredColumns, cholesky, gram, product, singularValueSteps, transposed } from "../kit/linear.js";
import { numbers } from "../kit/numbers.js";
import { sliced } from "../kit/sliced.js";

const EPS = 1e-5; // added to a variance, as batch normalisation does
const BETA = [0.9, 0.999]; // of Adam
const AT_ONCE = 96; // singular values: more are computed a little at a time

/** @typedef {{ n: number, d: number, one: Float64Array, other: Float64Array, extra: Float64Array, m: number }} Views two views [n, d], extra rows [m, d] */

/** The two views as far as they are looked at, and the artificial rows. @param {any} state @param {any} carried @returns {Views} */
export function rankViews({ source, batch_size: n, dimensions: d, artificial_rows: m }, carried) {
  const extra = Float64Array.from(m ? normals(carried.seed, m * d) : []);
  const given = carried.sources[source];
  const [, rows, width] = given.shape;
  const at = (/** @type {number} */ view, /** @type {number} */ i) => (view * rows + i) * width;
  if (given.values) {
    const [one, other] = [0, 1].map((view) => {
      const all = new Float64Array(n * d);
      for (let i = 0; i < n; i++) all.set(given.values.subarray(at(view, i), at(view, i) + d), i * d);
      return all;
    });
    return { n, d, m, one, other, extra };
  }
  const rowOf = (/** @type {number} */ view, /** @type {number} */ i) => normals(0, d, at(view, i));
  const [one, other] = [new Float64Array(n * d), new Float64Array(n * d)]; // normal numbers, a tenth of their variance noise
  for (let i = 0; i < n; i++) {
    const [clean, first, second] = [0, 1, 2].map((view) => rowOf(view, i));
    for (let c = 0; c < d; c++) {
      one[i * d + c] = Math.fround(Math.sqrt(0.9) * clean[c] + Math.sqrt(0.1) * first[c]);
      other[i * d + c] = Math.fround(Math.sqrt(0.9) * clean[c] + Math.sqrt(0.1) * second[c]);
    }
  }
  return { n, d, m, one, other, extra };
}

/** @param {Float64Array} above @param {Float64Array} below */
function stacked(above, below) {
  const all = new Float64Array(above.length + below.length);
  all.set(above);
  all.set(below, above.length);
  return all;
}

/** The lengths of the columns. @param {Float64Array} a [n, d] @param {number} d */
function lengths(a, d) {
  const squares = new Float64Array(d);
  for (let at = 0; at < a.length; at++) squares[at % d] += a[at] * a[at];
  return squares.map(Math.sqrt);
}

/** @param {Float64Array} a [n, d] @param {number} d @param {Float64Array} by [d] */
const divided = (a, d, by) => a.map((x, at) => (by[at % d] ? x / by[at % d] : 0));

/** Both views and the artificial rows, each column of length 1. @param {Views} views @param {boolean} centred */
const unitColumns = ({ n, d, m, one, other, extra }, centred) =>
  [one, other].map((view) => {
    const all = stacked(view, extra);
    const moved = centred ? centredColumns(all, n + m, d) : all;
    return divided(moved, d, lengths(moved, d));
  });

/** The first entries of the cross-correlation. @param {Views} views @param {number} shown */
function firstEntries(views, shown) {
  const [rows, d, first] = [views.n + views.m, views.d, Math.min(shown, views.d)];
  const few = (/** @type {Float64Array} */ all) => Float64Array.from({ length: rows * first }, (_, at) => all[Math.floor(at / first) * d + (at % first)]);
  const [a, b] = unitColumns(views, false).map(few);
  const z = product(transposed(a, rows, first), first, rows, b, first);
  return counting(first, 0).map((i) => z.slice(i * first, (i + 1) * first));
}

/** Singular values above rounding error of the cross-correlation. @param {Views} views @param {boolean} centred @returns {Generator<undefined, number[]>} */
export function* spectrumOf(views, centred) {
  const { n, d, m } = views;
  const rows = n + m;
  const [a, b] = unitColumns(views, centred);
  // Of a^T b with fewer rows than columns: those of L_a^T L_b, where a a^T = L_a L_a^T.
  const square =
    rows < d
      ? product(transposed(cholesky(gram(a, rows, d), rows), rows, rows), rows, rows, cholesky(gram(b, rows, d), rows), rows)
      : product(transposed(a, rows, d), d, rows, b, d);
  yield;
  const values = yield* singularValueSteps(square, Math.min(rows, d));
  return Array.from(values.filter((value) => value > values[0] * d * 2 ** -52));
}

/** Both spectra; undefined where they are still being computed. @param {any} state @param {any} carried @param {() => void} [again] @returns {{ uncentred: number[], centred: number[] } | undefined} */
function spectra(state, carried, again) {
  const { source, batch_size: n, dimensions: d, artificial_rows: m } = state;
  const both = function* () {
    const views = rankViews(state, carried);
    return { uncentred: yield* spectrumOf(views, false), centred: yield* spectrumOf(views, true) };
  };
  return sliced(`spectra:${[carried.own, source, n, d, m]}`, both, Math.min(n + m, d) > AT_ONCE ? again : undefined);
}

/** Barlow Twins and its gradient by the rows of both views. @param {Views} views @param {number} weight @param {Float64Array} [extraProducts] extra^T extra */
export function barlowTwinsOf({ n, d, m, one, other, extra }, weight, extraProducts) {
  const [na, nb] = [one, other].map((view) => lengths(stacked(view, extra), d));
  const rows = n + m;
  let a, b, ofA, ofB; // ofA: b C^T, ofB: a C of the rows of the views
  const diagonal = new Float64Array(d);
  const [across, down] = [new Float64Array(d), new Float64Array(d)]; // sums of C^2 over its rows and columns
  if (4 * rows * rows < 3 * n * d || (!m && n < d)) {
    a = divided(stacked(one, extra), d, na);
    b = divided(stacked(other, extra), d, nb);
    ofA = product(gram(b, rows, d), rows, rows, a, d);
    ofB = product(gram(a, rows, d), rows, rows, b, d);
    for (let at = 0; at < rows * d; at++) {
      diagonal[at % d] += a[at] * b[at];
      across[at % d] += a[at] * ofA[at];
      down[at % d] += b[at] * ofB[at];
    }
  } else {
    a = divided(one, d, na);
    b = divided(other, d, nb);
    const c = product(transposed(a, n, d), d, n, b, d);
    for (let i = 0; i < d; i++)
      for (let j = 0; j < d; j++) {
        if (extraProducts) c[i * d + j] += extraProducts[i * d + j] / (na[i] * nb[j]);
        const square = c[i * d + j] ** 2;
        across[i] += square;
        down[j] += square;
        if (i === j) diagonal[i] = c[i * d + j];
      }
    ofA = product(b, n, d, transposed(c, d, d), d);
    ofB = product(a, n, d, c, d);
  }
  let loss = 0;
  diagonal.forEach((own, c) => (loss += (1 - own) ** 2 + weight * (across[c] - own * own)));
  const slope = diagonal.map((own) => -2 * (1 - own) - 2 * weight * own);
  const byRows = (/** @type {Float64Array} */ mine, /** @type {Float64Array} */ theirs, /** @type {Float64Array} */ through, /** @type {Float64Array} */ squares, /** @type {Float64Array} */ length) =>
    Float64Array.from({ length: n * d }, (_, at) => {
      const c = at % d;
      const along = 2 * weight * squares[c] + slope[c] * diagonal[c];
      return (2 * weight * through[at] + slope[c] * theirs[at] - mine[at] * along) / length[c];
    });
  return { loss, gradients: [byRows(a, b, ofA, across, na), byRows(b, a, ofB, down, nb)] };
}

/** The dimension-wise loss and its gradient by the rows of both views. @param {Views} views @param {number} temperature */
export function dimensionContrastiveOf({ n, d, one, other }, temperature) {
  const deviations = [];
  const [a, b] = [one, other].map((view) => {
    const centred = centredColumns(view, n, d);
    const deviation = lengths(centred, d).map((length) => Math.sqrt((length * length) / n + EPS));
    deviations.push(deviation);
    return divided(centred, d, deviation);
  });
  const slopes = product(transposed(a, n, d), d, n, b, d).map((x) => x / (n * temperature)); // first the logits
  let loss = 0;
  for (let c = 0; c < d; c++) {
    const row = slopes.subarray(c * d, (c + 1) * d);
    const [own, largest] = [row[c], row.reduce((most, x) => Math.max(most, x), -Infinity)];
    let sum = 0;
    for (let j = 0; j < d; j++) sum += row[j] = Math.exp(row[j] - largest);
    loss += (Math.log(sum) + largest - own) / d;
    for (let j = 0; j < d; j++) row[j] /= sum * d * n * temperature;
    row[c] -= 1 / (d * n * temperature);
  }
  const gradients = [product(b, n, d, transposed(slopes, d, d), d), product(a, n, d, slopes, d)].map((g, side) => {
    const own = side ? b : a;
    const [mean, along] = [new Float64Array(d), new Float64Array(d)];
    for (let at = 0; at < n * d; at++) {
      mean[at % d] += g[at] / n;
      along[at % d] += (own[at] * g[at]) / n;
    }
    return g.map((x, at) => (x - mean[at % d] - own[at] * along[at % d]) / deviations[side][at % d]);
  });
  return { loss, gradients };
}

/** The loss before each step of Adam on the rows themselves, and after the last.
 * @param {Views} views @param {number} steps @param {number} rate @param {(views: Views) => { loss: number, gradients: Float64Array[] }} loss */
function* descent(views, steps, rate, loss) {
  const scale = Math.max(Math.sqrt([views.one, views.other].reduce((sum, view) => sum + view.reduce((all, x) => all + x * x, 0), 0) / (2 * views.one.length)), 1e-12);
  const rows = [views.one, views.other].map((view) => view.map((x) => x / scale));
  const [first, second] = [0, 1].map(() => rows.map((view) => new Float64Array(view.length)));
  const losses = [];
  for (let step = 1; ; step++) {
    const found = loss({ ...views, one: rows[0], other: rows[1] });
    losses.push(found.loss);
    if (step > steps) return losses;
    const [bias1, bias2] = BETA.map((beta) => 1 - beta ** step);
    found.gradients.forEach((gradient, side) => {
      const [m, v, x] = [first[side], second[side], rows[side]];
      for (let at = 0; at < x.length; at++) {
        m[at] += (1 - BETA[0]) * (gradient[at] - m[at]);
        v[at] += (1 - BETA[1]) * (gradient[at] * gradient[at] - v[at]);
        x[at] -= (rate * (m[at] / bias1)) / (Math.sqrt(v[at] / bias2) + 1e-8);
      }
    });
    yield;
  }
}

/** Both losses on their way down; undefined where they are still being computed. @param {any} state @param {any} carried @param {() => void} [again] */
export function rankDescents(state, carried, again) {
  const { source, batch_size, dimensions, artificial_rows } = state;
  const { steps, rate, weight, temperature } = carried;
  const views = () => rankViews(state, carried);
  const barlow = () => {
    const found = views();
    const own = found.m ? product(transposed(found.extra, found.m, found.d), found.d, found.m, found.extra, found.d) : undefined;
    return descent(found, steps, rate, (now) => barlowTwinsOf(now, weight, own));
  };
  const plain = () => ({ ...views(), m: 0, extra: new Float64Array(0) });
  const which = [carried.own, source, batch_size, dimensions];
  return {
    "Barlow Twins": sliced(`barlow:${[...which, artificial_rows]}`, barlow, again),
    "dimension-wise": sliced(`dimensions:${which}`, () => descent(plain(), steps, rate, (now) => dimensionContrastiveOf(now, temperature)), again),
  };
}

/** Another source may have fewer rows and dimensions: then all it has are taken. @param {any} asked @param {any} carried */
function fitting(asked, carried) {
  const [rows, width] = carried.most[asked.source];
  return { ...asked, batch_size: Math.min(asked.batch_size, rows), dimensions: Math.min(asked.dimensions, width) };
}

/** What its sliders offer then. @param {any} state @param {any} carried */
function offered(state, carried) {
  const [rows, width] = carried.most[state.source];
  const up = (/** @type {number} */ most, /** @type {number} */ now) =>
    [...new Set([...carried.sizes.filter((/** @type {number} */ size) => size <= most), now])].sort((a, b) => a - b).map((size) => [String(size), size]);
  return { batch_size: up(rows, state.batch_size), dimensions: up(width, state.dimensions) };
}

/** Ranks, floors and what was reached, and what training made of it. @param {any} state @param {any} carried @param {(number | string)[]} ranks @param {Record<string, number[] | undefined>} descents @param {Record<string, number>} floors */
function inWords(state, carried, ranks, descents, floors) {
  const { source, batch_size: n, dimensions: d, artificial_rows: m } = state;
  const bound = Math.min(n + m, d);
  const number = (/** @type {number | undefined} */ value) => (value === undefined ? "..." : value.toFixed(3)).padStart(8);
  return [
    `Cross-correlation of ${source}: N ${n}, D ${d}, M ${m} artificial rows`,
    `  rank ${ranks[0]} uncentred, ${ranks[1]} centred; ${bound === d ? "full rank" : `at most ${bound} of ${d}`}`,
    ...Object.entries(descents).map(
      ([name, values]) =>
        `  ${name.padEnd(14)}  as it is ${number(values?.[0])}  reached ${number(values?.[values.length - 1])}` +
        `  cannot go below ${number(floors[name])}`,
    ),
    ...carried.trained,
  ].join("\n");
}

/** @param {any} asked @param {any} given what Python carries @param {() => void} [again] */
export function figureOf(asked, given, again) {
  const carried = numbers(given);
  const state = fitting(asked, carried);
  const { batch_size: n, dimensions: d, artificial_rows: m } = state;
  const spectrum = spectra(state, carried, again);
  const z = firstEntries(rankViews(state, carried), carried.shown);
  const bound = (/** @type {number} */ rows, /** @type {boolean} */ centred) => Math.min(rows + m - Number(centred), d);
  const { weight, temperature } = carried;
  const bottleneck = (weight * Math.max(d - bound(n, false), 0)) / bound(n, false);
  const floors = {
    "Barlow Twins": (d * bottleneck) / (1 + bottleneck),
    "dimension-wise": Math.log1p((d - 1) * Math.exp(-d / ((d - 1) * temperature))),
  };
  const sizes = carried.sizes.filter((/** @type {number} */ size) => size <= Math.max(2 * d, n));
  const ranks = spectrum ? Object.values(spectrum).map((values) => values.length) : ["...", "..."];
  /** @type {Record<string, any>} */
  const traces = { matrix: { z }, measured: spectrum ? { x: [n, n], y: ranks } : { x: [], y: [] } };
  for (const [name, values] of Object.entries(spectrum ?? { uncentred: [], centred: [] })) {
    traces[`singular values: ${name}`] = { x: counting(values.length), y: values };
    traces[`bound: ${name}`] = { x: sizes, y: sizes.map((/** @type {number} */ size) => bound(size, name === "centred")) };
  }
  const tickvals = sizes.filter((/** @type {number} */ _, /** @type {number} */ at) => at % 2 === 0);
  /** @type {Record<number, any>} */
  const planes = {
    0: { title: spectrum ? `Singular values: rank ${ranks[0]}, centred ${ranks[1]}` : "Singular values: computing", x: { title: { text: `number, of D = ${d}` }, range: [0, d * 1.03] } },
    2: matrixAxes(z.length),
    1: { x: { tickvals, ticktext: tickvals.map(String) }, y: { range: [0, d * 1.08] } },
  };
  const descents = rankDescents(state, carried, again);
  Object.entries(descents).forEach(([name, values], at) => {
    const floor = floors[/** @type {keyof typeof floors} */ (name)];
    traces[name] = { x: counting(values?.length ?? 0, 0), y: values ?? [] };
    traces[`${name}: floor`] = { x: [0, carried.steps], y: [floor, floor] };
    if (!values) planes[3 + at] = { title: `${name}: computing` };
    else planes[3 + at] = { title: `${name}: ${general(values[values.length - 1], 4)}, floor ${general(floor, 4)}`, y: reach(name, values, floor) };
  });
  const words = inWords(state, carried, ranks, descents, floors);
  return { ...changed(carried.figure, traces, planes), words, note: carried.note, state, options: offered(state, carried) };
}

/** The axis of a loss. @param {string} name @param {number[]} values @param {number} floor */
function reach(name, values, floor) {
  const [low, high] = [Math.min(floor, ...values), Math.max(...values)];
  if (name !== "Barlow Twins") return { range: [low - 0.05 * (high - floor), high + 0.05 * (high - floor)] };
  const least = Math.min(...[...values, floor].filter((value) => value > 0));
  return { range: [Math.log10(least) - 0.2, Math.log10(high) + 0.2], dtick: high < 50 * least ? "D2" : 1 };
}
