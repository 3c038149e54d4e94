// WhiteningLab in a page: a whitening fitted on a batch, as cselab.sgw does it, and the figure that whitening_lab.py draws.
import { changed, counting, general, matrixAxes } from "../kit/changed_figure.js";
import { centredColumns, gram, product, symmetricEigen, transposed } from "../kit/linear.js";
import { numbers } from "../kit/numbers.js";
import { sliced } from "../kit/sliced.js";

const STAGES = ["as it is", "mean removed", "turned to its axes", "scaled: PCA", "turned back: ZCA"];
const TICKS = 8;
const VIEWS = 3;

/** @typedef {{ n: number, d: number, values: Float64Array }} Rows */
/** @typedef {{ channels: number[], axes: Float64Array[], variances: number[] }} Group its principal axes, loudest first */

/** @param {Rows} rows @param {number[]} channels */
const columnsOf = ({ n, d, values }, channels) => {
  const few = new Float64Array(n * channels.length);
  for (let i = 0, at = 0; i < n; i++) for (const channel of channels) few[at++] = values[i * d + channel];
  return few;
};

/** @param {any} carried @param {string} source @param {number} view @param {ArrayLike<number>} order @returns {Rows} */
function rowsOf(carried, source, view, order) {
  const { shape, values } = carried.sources[source];
  const [, count, d] = shape;
  const all = new Float64Array(order.length * d);
  Array.from(order).forEach((row, i) => all.set(values.subarray((view * count + row) * d, (view * count + row + 1) * d), i * d));
  return { n: order.length, d, values: all };
}

/** Row `at` of a table that is carried. @param {any} table @param {number} at @returns {number[]} */
const rowAt = ({ shape: [, width], values }, at) => Array.from(values.subarray(at * width, (at + 1) * width));

/** The rows of the batch, and the others. @param {any} state @param {any} carried */
function divided({ source, batch_size, seed }, carried) {
  const order = rowAt(carried.orders[source], seed - carried.seed);
  return [order.slice(0, batch_size), order.slice(batch_size)];
}

/** The principal axes of some channels of centred rows: as many as have a variance, and more up to `least`.
 * @param {Rows} centred @param {number[]} channels @param {number} [least] @returns {Group} */
function axesOf(centred, channels, least = 0) {
  const [n, w] = [centred.n, channels.length];
  const x = columnsOf(centred, channels);
  const dual = n <= w; // then the n x n matrix of inner products has the same eigenvalues, and more
  const found = symmetricEigen((dual ? gram(x, n, w) : gram(transposed(x, n, w), w, n)).map((one) => one / n), dual ? n : w);
  const variances = Array.from(found.values).filter((value) => value > 1e-13 * found.values[0]);
  const raw = dual ? product(found.axes.subarray(0, variances.length * n), variances.length, n, x, w) : found.axes;
  const axes = variances.map((_, k) => {
    const axis = raw.subarray(k * w, (k + 1) * w);
    return upright(axis, Math.sqrt(axis.reduce((sum, one) => sum + one * one, 0)));
  });
  for (let j = 0; axes.length < Math.min(least, w); j++) {
    const axis = new Float64Array(w);
    axis[j] = 1;
    for (let twice = 0; twice < 2; twice++)
      for (const other of axes) {
        const inner = axis.reduce((sum, one, c) => sum + one * other[c], 0);
        other.forEach((one, c) => (axis[c] -= inner * one));
      }
    const length = Math.sqrt(axis.reduce((sum, one) => sum + one * one, 0));
    if (length > 0.1 / w) axes.push(upright(axis, length));
  }
  return { channels, axes, variances };
}

/** An axis of length 1, its largest entry positive. @param {Float64Array} axis @param {number} length */
function upright(axis, length) {
  const largest = axis.reduce((most, one) => (Math.abs(one) > Math.abs(most) ? one : most), 0);
  return axis.map((one) => (largest < 0 ? -one : one) / length);
}

/** A whitening fitted on a batch. @param {Rows} batch @param {number[]} permutation @param {number} groups @param {number} eps @param {number} [least] axes that are needed */
export function fittedWhitening(batch, permutation, groups, eps, least = 0) {
  const { n, d } = batch;
  const centred = { ...batch, values: centredColumns(batch.values, n, d) };
  const size = d / groups;
  const parts = counting(groups, 0).map((group) => axesOf(centred, permutation.slice(group * size, (group + 1) * size), least));
  const mean = new Float64Array(d);
  batch.values.forEach((x, at) => (mean[at % d] += x / n));
  return { mean, permutation, parts, size, eps };
}

/** @typedef {ReturnType<typeof fittedWhitening>} Fitted */

/** @param {Fitted} fitted @param {Rows} rows */
const moved = ({ mean }, rows) => ({ ...rows, values: rows.values.map((x, at) => x - mean[at % rows.d]) });

/** The rows whitened (ZCA): in each group (x - mean) U (L + eps)^{-1/2} U^T. @param {Fitted} fitted @param {Rows} rows @returns {Rows} */
export function whitened(fitted, rows) {
  const { n, d } = rows;
  const from = moved(fitted, rows);
  const values = new Float64Array(n * d);
  const silent = 1 / Math.sqrt(fitted.eps); // what directions without variance are multiplied by
  for (const { channels, axes, variances } of fitted.parts) {
    const [w, r] = [channels.length, variances.length];
    const all = Float64Array.from(axes.slice(0, r).flatMap((axis) => Array.from(axis)));
    const x = columnsOf(from, channels);
    const rest = r < w ? silent : 0;
    const along = product(x, n, w, transposed(all, r, w), r).map((one, at) => one * (1 / Math.sqrt(variances[at % r] + fitted.eps) - rest));
    const back = product(along, n, r, all, w);
    for (let i = 0, at = 0; i < n; i++) for (const channel of channels) values[i * d + channel] = back[at] + rest * x[at++];
  }
  return { n, d, values };
}

/** The first axes of the whitened rows (PCA). @param {Fitted} fitted @param {Rows} rows @param {number} count @returns {Rows} */
function alongAxes(fitted, rows, count) {
  const [{ channels, axes, variances }] = fitted.parts;
  const d = Math.min(count, axes.length);
  const all = Float64Array.from(axes.slice(0, d).flatMap((axis) => Array.from(axis)));
  const values = product(columnsOf(moved(fitted, rows), channels), rows.n, rows.d, transposed(all, d, rows.d), d);
  return { n: rows.n, d, values: values.map((one, at) => one / Math.sqrt((variances[at % d] ?? 0) + fitted.eps)) };
}

/** Variances along the principal axes, and how the rows lie; see cselab.metrics.geometry. @param {Rows} rows */
export function geometryOf({ n, d, values }) {
  const inner = gram(values, n, d);
  const lengths = counting(n, 0).map((i) => Math.sqrt(inner[i * n + i]));
  let [cosines, potential] = [0, 0];
  for (let i = 0; i < n; i++)
    for (let j = 0; j < i; j++) {
      const cosine = inner[i * n + j] / (lengths[i] * lengths[j]);
      cosines += cosine;
      potential += Math.exp(4 * (cosine - 1));
    }
  const pairs = (n * (n - 1)) / 2;
  const centred = centredColumns(values, n, d);
  const size = Math.min(n, d);
  const products = n <= d ? gram(centred, n, d) : gram(transposed(centred, n, d), d, n);
  const spectrum = Array.from(symmetricEigen(products, size, false).values, (value) => Math.max(value, 0) / n);
  const roots = spectrum.map(Math.sqrt);
  const total = roots.reduce((sum, one) => sum + one, 0);
  const entropy = roots.reduce((sum, one) => sum - (one && (one / total) * Math.log(one / total)), 0);
  return {
    spectrum: spectrum.filter((value) => value > Math.max(1e-12, 1e-13 * spectrum[0])),
    uniformity: Math.log(potential / pairs),
    "mean cosine": cosines / pairs,
    "effective rank": Math.exp(entropy),
    "largest variance": spectrum[0],
  };
}

/** @param {Rows} rows @param {number[]} channels */
function covarianceOf(rows, channels) {
  const [n, w] = [rows.n, channels.length];
  const products = gram(transposed(centredColumns(columnsOf(rows, channels), n, w), n, w), w, n);
  return counting(w, 0).map((i) => products.slice(i * w, (i + 1) * w).map((one) => one / n));
}

/** By number of groups: how far several views of a sentence lie apart, and how far each from the vector. @param {any} state @param {any} carried */
function* ofViews({ source, batch_size, eps, seed }, carried) {
  const [rows] = divided({ source, batch_size, seed }, carried);
  const count = carried.sources[source].shape[0];
  const views = counting(count, 0).map((view) => {
    const { n, d, values } = rowsOf(carried, source, view, rows);
    return { n, d, values: centredColumns(values, n, d) };
  });
  const squares = views.map(({ values }) => values.reduce((sum, one) => sum + one * one, 0) / values.length);
  const scale = Math.sqrt(squares.reduce((sum, one) => sum + one, 0) / count); // variances about 1, as after whitening
  for (const view of views) view.values = view.values.map((one) => one / scale);
  const { d } = views[0];
  const permutations = counting(VIEWS, seed - carried.seed).map((at) => rowAt(carried.permutations[source], at));
  const groups = counting(d).filter((k) => d % k === 0);
  /** @type {{ groups: number[], shuffled: number[], both: number[], dropout?: number, perturbation: number[] }} */
  const found = { groups, shuffled: [], both: [], dropout: count > 1 ? diversity(views) : undefined, perturbation: [] };
  for (const k of groups) {
    const after = [];
    for (const permutation of permutations) {
      after.push(k === 1 && after.length ? after[0] : whitened(fittedWhitening(views[0], permutation, k, eps), views[0]));
      yield;
    }
    found.shuffled.push(diversity(after));
    found.perturbation.push(after.reduce((sum, one) => sum + perturbation(views[0], one), 0) / VIEWS);
    if (count === 1) continue;
    const own = [after[0]];
    for (let p = 1; p < count; p++) {
      own.push(whitened(fittedWhitening(views[p], permutations[p], k, eps), views[p]));
      yield;
    }
    found.both.push(diversity(own));
  }
  return found;
}

/** Mean squared distance of the directions of two views, over all pairs of views. @param {Rows[]} views */
function diversity(views) {
  const { n, d } = views[0];
  let [sum, pairs] = [0, 0];
  for (let p = 0; p < views.length; p++)
    for (let q = 0; q < p; q++, pairs++)
      for (let i = 0; i < n; i++) {
        let [one, other, inner] = [0, 0, 0];
        for (let at = i * d; at < (i + 1) * d; at++) {
          const [x, y] = [views[p].values[at], views[q].values[at]];
          one += x * x;
          other += y * y;
          inner += x * y;
        }
        sum += (2 - (2 * inner) / Math.sqrt(one * other)) / n;
      }
  return sum / pairs;
}

/** Mean length of what is added to each row, as a share of the row's own. @param {Rows} before @param {Rows} after */
function perturbation({ n, d, values }, after) {
  let sum = 0;
  for (let i = 0; i < n; i++) {
    let [length, added] = [0, 0];
    for (let at = i * d; at < (i + 1) * d; at++) {
      length += values[at] ** 2;
      added += (after.values[at] - values[at]) ** 2;
    }
    sum += Math.sqrt(added / length) / n;
  }
  return sum;
}

/** The number of groups in use: 1 for PCA and ZCA, else the largest divisor up to `num_groups`. @param {any} state @param {number} d */
function groupsOf({ strategy, num_groups }, d) {
  if (strategy === "PCA" || strategy === "ZCA") return 1;
  return Math.max(...counting(Math.min(num_groups, d)).filter((k) => d % k === 0));
}

/** What the whitening makes of batch and other sentences. @param {any} state @param {any} carried */
export function whiteningOutcome(state, carried) {
  const [batchRows, otherRows] = divided(state, carried);
  const batch = rowsOf(carried, state.source, 0, batchRows);
  const others = rowsOf(carried, state.source, 0, otherRows);
  const groups = groupsOf(state, batch.d);
  const shuffled = state.strategy === "shuffled group";
  const permutation = shuffled ? rowAt(carried.permutations[state.source], state.seed - carried.seed) : counting(batch.d, 0);
  const fitted = fittedWhitening(batch, permutation, groups, state.eps, state.strategy === "PCA" ? carried.channels : 2);
  return { groups, fitted, batch, others, "batch, after": whitened(fitted, batch), "others, after": whitened(fitted, others) };
}

/** Two channels of the batch at a stage, and two axes of their group, twice the standard deviation long. @param {any} state @param {any} found */
function stageOf({ stage }, { fitted, batch, groups, ...found }) {
  const { permutation, parts, size, eps } = fitted;
  const { n, d } = batch;
  const pair = [0, 1].map((c) => ({ part: parts[Math.floor(c / size)], axis: c % size, channel: permutation[c] }));
  const centred = moved(fitted, batch);
  const columns = pair.map(({ part, axis, channel }) => {
    const from = stage === 0 ? batch : stage === 1 ? centred : found["batch, after"];
    if (stage < 2 || stage === 4) return counting(n, 0).map((i) => from.values[i * d + channel]);
    const x = columnsOf(centred, part.channels);
    const scale = stage === 2 ? 1 : 1 / Math.sqrt((part.variances[axis] ?? 0) + eps);
    return Array.from(product(x, n, size, part.axes[axis], 1), (one) => one * scale);
  });
  const centre = columns.map((column) => column.reduce((sum, one) => sum + one, 0) / n);
  /** @type {(number | null)[][]} */
  const pen = [[], []];
  for (const k of groups < d ? [0, 1] : [0]) {
    const { axes, variances } = parts[0];
    const variance = variances[k] ?? 0;
    const scale = stage > 2 ? 1 / Math.sqrt(variance + eps) : 1;
    const end = [0, 1].map((c) => 2 * Math.sqrt(variance) * scale * (stage === 2 || stage === 3 ? Number(c === k) : axes[k][c] ?? 0));
    pen.forEach((line, c) => line.push(centre[c] - end[c], centre[c] + end[c], null));
  }
  const range = 1.1 * Math.max(...columns.flat().map(Math.abs));
  const axis = { range: [-range, range] };
  return {
    traces: { points: { x: columns[0], y: columns[1] }, axes: { x: pen[0], y: pen[1] } },
    plane: { title: `Two channels: ${STAGES[stage]}`, x: axis, y: axis },
  };
}

/** What was whitened how, and the geometry before and after. @param {any} state @param {any} carried @param {any} found @param {Record<string, any>} geometry @param {any} views */
function inWords(state, carried, { groups, batch, others }, geometry, views) {
  const { d } = batch;
  const grouped = state.strategy.includes("group") ? ` in ${groups} groups of ${d / groups}` : "";
  const fixed = (/** @type {number} */ value, /** @type {number} */ digits, /** @type {number} */ wide) => value.toFixed(digits).padStart(wide);
  const lines = Object.entries(geometry).map(
    ([name, numbers]) =>
      `  ${name.padEnd(22)}  uniformity ${fixed(numbers.uniformity, 3, 7)}  mean cosine ${fixed(numbers["mean cosine"], 3, 6)}` +
      `  effective rank ${fixed(numbers["effective rank"], 1, 6)}  largest variance ${general(numbers["largest variance"], 3)}`,
  );
  const here = views?.groups.indexOf(groups);
  const apart = views && `diversity ${views.shuffled[here].toFixed(3)}, perturbation ${views.perturbation[here].toFixed(2)} of a vector's length`;
  return [
    `Whitening of ${carried.names[state.source]}: ${state.strategy}${grouped}, eps ${general(state.eps, 6)}, ` +
      `fitted on ${batch.n} of ${batch.n + others.n} sentences of width ${d} (seed ${state.seed})`,
    ...lines,
    `  views at ${groups} groups: ${apart ?? "computing"}`,
    ...tooFew(batch.n, d / groups).map((line) => `  ${line}`),
  ].join("\n");
}

/** @param {number} rows @param {number} width of a group */
const tooFew = (rows, width) =>
  rows > width
    ? []
    : [
        `${rows} rows have no variance in ${width - rows + 1} of the ${width} directions of a group: ` +
          "whitening divides by sqrt(eps) there, which other sentences show.",
      ];

/** @param {any} state @param {any} given what Python carries @param {() => void} [again] */
export function figureOf(state, given, again) {
  const carried = numbers(given);
  const found = whiteningOutcome(state, carried);
  const { fitted, batch, others, groups } = found;
  const geometry = {
    "batch, before": geometryOf(batch),
    "batch, after": geometryOf(found["batch, after"]),
    "other sentences, after": geometryOf(found["others, after"]),
  };
  const shown = fitted.permutation.slice(0, carried.channels);
  const before = covarianceOf(batch, shown);
  const mean = before.reduce((sum, row, i) => sum + row[i] / shown.length, 0);
  const pca = state.strategy === "PCA";
  const after = (/** @type {Rows} */ rows, /** @type {Rows} */ out) =>
    pca ? covarianceOf(alongAxes(fitted, rows, carried.channels), counting(shown.length, 0)) : covarianceOf(out, shown);
  const { traces: stage, plane } = stageOf(state, found);
  /** @type {Record<string, any>} */
  const traces = {
    ...stage,
    before: { z: before.map((row) => row.map((one) => one / mean)) },
    after: { z: after(batch, found["batch, after"]) },
    others: { z: after(others, found["others, after"]) },
  };
  const logs = [];
  for (const [name, { spectrum }] of Object.entries(geometry)) {
    traces[`spectrum: ${name}`] = { x: counting(spectrum.length), y: spectrum };
    logs.push(...spectrum.map(Math.log10));
  }
  const dtick = Math.max(1, Math.ceil((Math.max(...logs) - Math.min(...logs)) / TICKS));
  const { source, batch_size, eps, seed } = state;
  const views = sliced(`views:${[carried.own, source, batch_size, eps, seed]}`, () => ofViews(state, carried), again);
  const ticks = matrixAxes(shown.length);
  return {
    ...changed(carried.figure, { ...traces, ...viewsTraces(views, groups) }, {
      0: plane,
      1: ticks,
      2: ticks,
      3: ticks,
      4: { y: { dtick } },
      5: viewsPlane(views),
    }),
    details: table(geometry, batch.d),
    words: inWords(state, carried, found, geometry, views),
    note: [carried.note, ...tooFew(batch.n, batch.d / groups)].join(" "),
  };
}

/** @param {any} views @param {number} groups */
function viewsTraces(views, groups) {
  const here = { x: [groups, groups] };
  if (!views) return { here, ...Object.fromEntries(["shuffled groups", "dropout", "both"].map((name) => [`views: ${name}`, { y: [] }])), "perturbation, Eq. 11": { y: [] } };
  const { groups: x, shuffled, both, dropout, perturbation: changes } = views;
  const several = dropout !== undefined;
  return {
    here,
    "views: shuffled groups": { x, y: shuffled },
    "views: dropout": { x, y: several ? x.map(() => dropout) : [], visible: several },
    "views: both": { x, y: both, visible: several },
    "perturbation, Eq. 11": { x, y: changes },
  };
}

/** @param {any} views */
function viewsPlane(views) {
  if (!views) return { title: "Views of one sentence: computing" };
  const apart = Math.ceil(views.groups.length / 9);
  const tickvals = views.groups.filter((/** @type {number} */ _, /** @type {number} */ at) => at % apart === 0);
  return { title: "Views of one sentence", x: { tickvals, ticktext: tickvals.map(String) } };
}

/** The geometry before and after, as HTML. @param {Record<string, any>} parts @param {number} width */
function table(parts, width) {
  const heads = {
    uniformity: "uniformity (0 to about -4)",
    "mean cosine": "mean cosine (-1 to 1)",
    "effective rank": `effective rank (1 to ${width})`,
    "largest variance": "largest variance",
  };
  const cell = (/** @type {string} */ tag, /** @type {string} */ text) => `<${tag} class="number">${text}</${tag}>`;
  const head = Object.values(heads).map((title) => cell("th", title)).join("");
  const lines = Object.entries(parts).map(([part, numbers]) => {
    const cells = Object.keys(heads).map((name) => cell("td", general(numbers[name], 3)));
    return `<tr><td>${part}</td>${cells.join("")}</tr>`;
  });
  return `<table><tr><th></th>${head}</tr>${lines.join("")}</table>`;
}
