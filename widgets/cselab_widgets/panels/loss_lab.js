// LossLab in a page: the losses of one sentence as functions of its cosines, with their derivatives; term for term those of
// cselab.losses, and the figure that loss_lab.py draws.
import { changed, counting, evenly, general } from "../kit/changed_figure.js";
import { numbers } from "../kit/numbers.js";

const POINTS = 25; // of each curve

/** @typedef {{ temperature: number, focal_m: number, off_dropout_m: number, margin: number }} Setting margin in degrees */
/** @typedef {{ loss: number, gradient: Float64Array, second?: Float64Array }} Wanted d loss / d cosine */

/** log sum exp, and the share of each. @param {ArrayLike<number>} logits */
function softmax(logits) {
  const largest = Math.max(...Array.from(logits));
  const shares = Float64Array.from(logits, (x) => Math.exp(x - largest));
  const sum = shares.reduce((all, one) => all + one, 0);
  return { log: Math.log(sum) + largest, shares: shares.map((one) => one / sum) };
}

/** A cosine's logit and its slope. @type {Record<string, (c: number, own: boolean, at: Setting) => [number, number]>} */
const LOGITS = {
  InfoNCE: (c, _, { temperature: t }) => [c / t, 1 / t],
  "Focal-InfoNCE": (c, own, { temperature: t, focal_m: m }) => (own ? [(c * c) / t, (2 * c) / t] : [(c * (c + m)) / t, (2 * c + m) / t]),
  ArcCon(c, own, { temperature: t, margin }) {
    if (!own) return [c / t, 1 / t];
    const [angle, sine] = [(margin * Math.PI) / 180, Math.sqrt(Math.max(1 - c * c, 0))];
    return [(c * Math.cos(angle) - sine * Math.sin(angle)) / t, (Math.cos(angle) + (sine && (c / sine) * Math.sin(angle))) / t];
  },
  "off-dropout": (c, own, { temperature: t, off_dropout_m: m }) => [c / t + (own ? 0 : Math.log(m)), 1 / t],
};

/**
 * The loss of one sentence, and what it wants of each of its cosines.
 * @param {string} name
 * @param {ArrayLike<number>} cosines with the first positives of all
 * @param {ArrayLike<number>} second with the second, which Eq. 8 alone looks at
 * @param {number} own which is the sentence's own positive
 * @param {Setting} at
 * @returns {Wanted}
 */
export function lossOfCosines(name, cosines, second, own, at) {
  if (name.startsWith("Eq. 8")) {
    const t = at.temperature;
    const parts = [cosines, second].map((one) => ({ s: one[own] / t, ...softmax(Array.from(one, (c) => c / t)) }));
    const sign = name.endsWith("printed") ? -1 : 1; // mended: log sum_p exp(-s_p) Z_p; printed: -log sum_p exp(-s_p) / Z_p
    const over = softmax(parts.map(({ s, log }) => -s + sign * log));
    const [gradient, other] = parts.map(({ shares }, p) =>
      shares.map((share, j) => (over.shares[p] * (share - (j === own ? sign : 0))) / t),
    );
    return { loss: sign * over.log, gradient, second: other };
  }
  const logits = Array.from(cosines, (c, j) => LOGITS[name](c, j === own, at));
  const { log, shares } = softmax(logits.map(([logit]) => logit));
  const gradient = shares.map((share, j) => (share - Number(j === own)) * logits[j][1]);
  return { loss: log - logits[own][0], gradient };
}

export const LOSS_NAMES = [...Object.keys(LOGITS), "Eq. 8, mended", "Eq. 8, printed"];

/** @param {any} carried @param {any} step @param {string} which */
function rowsAt({ steps, cosines }, step, which) {
  const { shape, values } = cosines[which];
  const n = shape[1];
  const from = steps.indexOf(step) * n * n;
  return Array.from({ length: n }, (_, i) => Float64Array.from(values.subarray(from + i * n, from + (i + 1) * n)));
}

/** The cosines that a loss sees: its positives on the diagonal. @param {any} carried @param {any} step @param {string} loss */
function seen(carried, step, loss) {
  const rows = rowsAt(carried, step, "pairs");
  if (loss !== "off-dropout") return rows;
  return rowsAt(carried, step, "clean").map((row, i) => row.map((c, j) => (i === j ? rows[i][i] : c)));
}

/** What a loss wants of the cosines of a batch. @param {any} carried @param {any} state @param {string} loss */
export function lossGradients(carried, state, loss) {
  const second = rowsAt(carried, state.step, "second");
  return seen(carried, state.step, loss).map((row, i) => lossOfCosines(loss, row, second[i], i, state).gradient);
}

/** The mean share of a sentence's push that its hardest 1, 2, ... negatives carry. @param {Float64Array[]} gradient */
function sharesOf(gradient) {
  const mean = new Float64Array(gradient.length - 1);
  gradient.forEach((row, i) => {
    const sizes = row.filter((_, j) => j !== i).map(Math.abs).sort().reverse();
    const all = Math.max(sizes.reduce((sum, one) => sum + one, 0), 1e-300);
    let sum = 0;
    sizes.forEach((size, k) => (mean[k] += (sum += size) / all / gradient.length));
  });
  return Array.from(mean);
}

/** Loss and gradient of one sentence over one cosine. @param {string} name @param {any} state @param {any} carried */
function curveOf(name, state, { cosines, typical: [positive, negatives] }) {
  const low = Math.max(-0.5, 2 * negatives - 0.99);
  const row = new Float64Array(cosines.pairs.shape[1]).fill(negatives);
  row[0] = Math.max(positive, low);
  const at = state.pair === "positive" ? 0 : 1;
  const points = evenly(low, 0.99, POINTS).map((cosine) => {
    row[at] = cosine;
    const { loss, gradient, second } = lossOfCosines(name, row, row, 0, state);
    return { cosine, loss, gradient: gradient[at] + (second ? second[at] : 0) };
  });
  return {
    cosines: points.map((one) => one.cosine),
    losses: points.map((one) => one.loss),
    gradients: points.map((one) => one.gradient),
  };
}

/** The batch at a step, what the loss wants of it, and who carries the gradient. @param {any} state @param {any} carried @param {Float64Array[]} gradient */
function inWords(state, carried, gradient) {
  const rows = seen(carried, state.step, state.loss);
  const n = rows.length;
  const negatives = rows.map((row, i) => Array.from(row).filter((_, j) => j !== i));
  const mean = (/** @type {number[]} */ values) => (values.reduce((sum, one) => sum + one, 0) / values.length).toFixed(3);
  const first = rows.filter((row, i) => negatives[i].every((other) => row[i] > other)).length;
  const carries = sharesOf(gradient);
  const half = carries.filter((share) => share < 0.5).length + 1;
  const apart = gradient.filter((row, i) => row[i] > 1e-9).length;
  const together = gradient.reduce((sum, row, i) => sum + row.filter((one, j) => j !== i && one < -1e-9).length, 0);
  /** @type {Record<string, string>} */
  const own = {
    "Focal-InfoNCE": `, m ${general(state.focal_m, 6)}`,
    "off-dropout": `, m ${general(state.off_dropout_m, 6)}`,
    ArcCon: `, margin ${general(state.margin, 6)}°`,
  };
  return [
    `${state.loss} at step ${state.step}, temperature ${general(state.temperature, 6)}${own[state.loss] ?? ""}, batch of ${n}`,
    `  cosines: positives ${mean(rows.map((row, i) => row[i]))}, negatives ${mean(negatives.flat())}; ` +
      `${first} of ${n} positives are their sentence's nearest`,
    `  half of the push comes from ${half} of ${n - 1} negatives; the hardest alone carries ${(100 * carries[0]).toFixed(0)}%`,
    `  the wrong way: ${apart} of ${n} positives pushed apart, ${together} of ${n * (n - 1)} negatives pulled together`,
  ].join("\n");
}

/** @param {any} state @param {any} given what Python carries */
export function figureOf(state, given) {
  const carried = numbers(given);
  const n = carried.cosines.pairs.shape[1];
  const wanted = Object.fromEntries(LOSS_NAMES.map((name) => [name, lossGradients(carried, state, name)]));
  const gradient = wanted[state.loss];
  let limit = 1e-12;
  gradient.forEach((row, i) => row.forEach((one, j) => (limit = i === j ? limit : Math.max(limit, Math.abs(one)))));
  /** @type {Record<string, any>} */
  const traces = {
    cosines: { z: seen(carried, state.step, state.loss) },
    gradient: {
      z: gradient.map((row) => row.map((one) => one / limit)),
      hovertemplate: `sentences %{y} and %{x}: %{z:.2f} of ${general(limit, 2)}<extra></extra>`,
    },
  };
  let reach = 0;
  for (const name of LOSS_NAMES) {
    const line = { width: name === state.loss ? 3.5 : 1.8 };
    const { cosines, losses, gradients } = curveOf(name, state, carried);
    traces[`shares: ${name}`] = { y: sharesOf(wanted[name]).map((share) => 100 * share), line };
    traces[`losses: ${name}`] = { x: cosines, y: losses, line };
    traces[`gradients: ${name}`] = { x: cosines, y: gradients, line };
    if (name !== "ArcCon") reach = Math.max(reach, ...gradients.map((one) => 1.15 * Math.abs(one)));
  }
  const means = carried.steps.map((/** @type {any} */ step) => {
    const rows = seen(carried, step, state.loss);
    const own = rows.reduce((sum, row, i) => sum + row[i], 0);
    const all = rows.reduce((sum, row) => sum + row.reduce((one, other) => one + other, 0), 0);
    return [own / n, (all - own) / (n * (n - 1))];
  });
  const size = carried.steps.map((/** @type {any} */ step) => (step === state.step ? 12 : 6));
  ["positives", "negatives"].forEach((name, side) => {
    traces[`run: ${name}`] = { y: means.map((/** @type {number[]} */ row) => row[side]), marker: { size } };
  });
  const lowest = Math.min(...means.flat());
  const figure = changed(carried.figure, traces, {
    0: { title: `Cosines at step ${state.step}` },
    1: { title: `${state.loss}: gradient, ±${general(limit, 2)}` },
    3: { title: `Loss by the ${state.pair}'s cosine` },
    4: { title: `Gradient by the ${state.pair}'s cosine`, y: { range: [-reach, reach] } },
    5: { y: { range: [Math.min(-0.05, Math.round(100 * lowest - 5) / 100), 1.04] } },
  });
  return { ...figure, words: inWords(state, carried, gradient), note: carried.notes[state.pair] };
}
