// SimCSE live: a toy encoder is trained in the page, beside the runs before it. What is computed is in toy_encoder.js.
import { button, choice, counters, drawn, element, playing, signed, slider, spoken } from "../kit/page_controls.js";
import { inner, onSphere } from "../kit/geometry.js";
import { TOY_LOSSES, closePairs, settingsOf, sides, training, untrained } from "./toy_encoder.js";

/** @typedef {import("./toy_encoder.js").ToyState} ToyState @typedef {import("./toy_encoder.js").Measured} Measured */

const TOY_STEPS = 400;
const TOY_LOOK = 5; // steps between two looks, and in a frame
const TOY_KEPT = 4; // runs that stay beside the newest
/** The numbers that each axis holds, whatever the runs are. @type {{ key: keyof Measured, title: string, axis: number[] }[]} */
const TOY_CURVES = [
  { key: "spearman", title: "Spearman with the grades: higher is better", axis: [0, 1] },
  { key: "loss", title: "loss of the batch", axis: [0, 1] },
  { key: "alignment", title: "alignment of close pairs: lower is better", axis: [0, 1] },
  { key: "uniformity", title: "uniformity: lower is better", axis: [-4, 0] },
  { key: "effective rank", title: "effective rank, of 8 dimensions", axis: [0, 8] },
];
const [TOY_WIDE, TOY_HIGH] = [300, 130];

/** What tells a run from the others. @param {ToyState["runs"][number]["settings"]} s */
const titleOf = (s) =>
  `${s.loss}, temperature ${s.temperature}, noise ${s.noise}, batch ${s.batch}` +
  (s.loss === "Barlow Twins" ? `, ${s.artificial} artificial rows` : "");

/**
 * The sentences on the unit sphere, seen along six of its eight dimensions; lines join pairs of like meaning.
 * @param {ReturnType<typeof untrained>} rows @param {ToyState} state @param {string} when
 */
function cloud(rows, state, when) {
  const [x, y] = sides(rows, state).map((side) => side.map(onSphere));
  const all = [...x, ...y];
  const mean = all[0].map((_, c) => all.reduce((sum, row) => sum + row[c], 0));
  const apart = (inner(mean, mean) - all.length) / (all.length * (all.length - 1));
  const close = closePairs(state);
  const near = close.reduce((sum, i) => sum + inner(x[i], y[i]), 0) / close.length;
  const title = `${when}: like pairs have cosine ${signed(near, 2)}, all ${signed(apart, 2)}`;
  const like = new Set(close);
  const dots = [x, y].flatMap((side) => side.map(([across, up], i) =>
    drawn("circle", { cx: across, cy: -up, r: like.has(i) ? 0.02 : 0.012, fill: like.has(i) ? "#0072b2" : "#808080" })));
  const ties = close.map((i) => drawn("path", { d: `M${x[i][0]},${-x[i][1]}L${y[i][0]},${-y[i][1]}`, class: "cselab-tie" }));
  return element("figure", { style: "margin: 0" }, element("figcaption", { class: "cselab-title", style: "margin: 4px 0" }, title),
    drawn("svg", { viewBox: "-1.02 -1.02 2.04 2.04", role: "img", "aria-label": title },
      drawn("circle", { r: 1, class: "cselab-circle" }), ...ties, ...dots));
}

/** One curve of each run. @param {ToyState["runs"]} runs @param {typeof TOY_CURVES[number]} curve */
function chart(runs, { key, title, axis }) {
  const values = [...axis, ...runs.flatMap((run) => run.history.map((row) => row[key]))];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = high - low;
  const ticks = [low, low + span];
  /** @param {number} value */
  const up = (value) => 108 - (92 * (value - low)) / span;
  const lines = runs.map(({ number, history }, k) => {
    const points = history.map((row) => `${(44 + (246 * row.step) / TOY_STEPS).toFixed(1)},${up(row[key]).toFixed(1)}`);
    const line = drawn("polyline", { points: points.join(" "), class: `cselab-run cselab-run-${number % 5}` });
    if (k === runs.length - 1) line.classList.add("cselab-newest");
    return line;
  });
  const numbers = ticks.map((tick) => drawn("text", { x: 40, y: up(tick) + 4, class: "cselab-tick" }, signed(tick, 2)));
  const last = runs.at(-1)?.history.at(-1);
  const told = last ? `${title}: ${signed(last[key], 3)} at step ${last.step}` : title;
  return element("figure", {}, element("figcaption", {}, title),
    drawn("svg", { viewBox: `0 0 ${TOY_WIDE} ${TOY_HIGH}`, role: "img", "aria-label": told },
      drawn("path", { d: "M44,12V108H292", class: "cselab-axis" }), ...numbers,
      drawn("text", { x: 44, y: 124, class: "cselab-step" }, "0"),
      drawn("text", { x: 168, y: 66, class: "cselab-middle" }, last ? "" : "press train"),
      drawn("text", { x: 290, y: 124, class: "cselab-tick" }, `${TOY_STEPS} steps`), ...lines));
}

/**
 * Shows a state and lets a hand train.
 * @param {HTMLElement} place
 * @param {ToyState} shown
 * @param {(state: ToyState) => void} told hears when settings change and when a run ends
 */
export function mountToyTraining(place, shown, told) {
  let state = structuredClone(shown);
  const tell = () => told(structuredClone(state));
  /** @type {(() => void) | null} */
  let halt = null;
  /** @type {ReturnType<typeof training> | null} */
  let run = null;
  /** @type {ReturnType<typeof untrained> | undefined} */
  let rows; // as the last run left them
  let when = "Before training";

  const draw = () => {
    const runs = run ? [...state.runs, run] : state.runs;
    rows = run?.rows ?? rows ?? untrained(state);
    const step = run?.history.at(-1)?.step;
    seen.replaceChildren(cloud(rows, state, step === undefined ? when : (when = `Step ${step}`)));
    const [first, ...others] = TOY_CURVES.map((curve) => chart(runs, curve));
    score.replaceChildren(first);
    plots.replaceChildren(...others);
    names.replaceChildren(...[...runs].reverse().map(({ number, settings }) =>
      element("li", { class: `cselab-run-${number % 5}` }, titleOf(settings))));
    const row = runs.at(-1)?.history.at(-1);
    tally.show({ "rank of the centred batch": row ? `${row.rank} of 8` : "\u2013" });
    if (halt || !row) return;
    const { settings } = runs[runs.length - 1];
    words.say(`${titleOf(settings)}: after ${row.step} steps ` +
      TOY_CURVES.map(({ key }) => `${key} ${signed(row[key], 3)}`).join(", "));
  };
  const paused = () => {
    halt?.();
    halt = null;
    press.textContent = run && run.history.length ? "go on" : "train";
  };
  /** Keep what was trained beside the next run. */
  const kept = () => {
    if (run?.history.length) state.runs = [...state.runs, { number: run.number, settings: run.settings, history: run.history }].slice(-TOY_KEPT);
    run = null;
  };
  const press = button("train", () => {
    if (halt) {
      paused();
      return draw();
    }
    run ??= training(state);
    const now = run;
    halt = playing(
      () => {
        for (let step = 0; step < TOY_LOOK; step++) now.step();
        return (now.history.at(-1)?.step ?? 0) >= TOY_STEPS;
      },
      draw,
      () => {
        kept();
        paused();
        draw();
        tell();
      },
      TOY_STEPS + 1,
    );
    press.textContent = "pause";
  });
  const clear = button("forget the runs", () => {
    paused();
    run = null;
    [state.runs, rows, when] = [[], undefined, "Before training"];
    paused();
    draw();
    tell();
  });
  /** A setting is of the next run: what runs now is kept as it is. @param {Partial<ToyState>} change */
  const changed = (change) => {
    if (run) kept();
    Object.assign(state, change);
    paused();
    draw();
    tell();
  };
  const hands = {
    loss: choice("loss", Object.keys(TOY_LOSSES), (loss) => changed({ loss })),
    temperature: slider("temperature", [0.02, 0.05, 0.1, 0.2, 0.5, 1], (temperature) => changed({ temperature })),
    noise: slider("noise (dropout)", [0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9], (noise) => changed({ noise })),
    batch: slider("batch", [2, 3, 4, 6, 8, 12, 16, 32], (batch) => changed({ batch })),
    artificial: slider("artificial rows", [0, 2, 4, 8, 16, 32], (artificial) => changed({ artificial })),
    seed: slider("seed", [0, 1, 2, 3, 4], (seed) => changed({ seed })),
  };
  const tally = counters();
  const words = spoken();
  const [seen, score, plots] = ["", "cselab-charts", "cselab-charts"].map((name) => element("div", { class: name }));
  score.setAttribute("style", "grid-template-columns: minmax(0, 24em)");
  const names = element("ol", { class: "cselab-names" });
  const [above, further] = [0, 1].map(() => element("div", { class: "cselab-hands" }));
  const { artificial, seed, ...main } = hands;
  above.append(...Object.values(main).map(({ box }) => box), element("div", { class: "cselab-buttons" }, press, clear));
  further.append(artificial.box, seed.box, tally.box, element("p", { class: "cselab-small" },
    "A batch of fewer than 9 sentences cannot fill 8 dimensions once it is centred; artificial rows, beneath a batch of " +
      "Barlow Twins, lift its rank."));
  /** @param {string} question @param {Node[]} inside */
  const folded = (question, ...inside) => element("details", {}, element("summary", {}, question), ...inside);
  const note = element("p", { class: "cselab-small" },
    "A point is a sentence; blue pairs with a line mean the same. Training should keep the lines short and spread the points.");
  const root = element("div", { class: "cselab-toy", "data-lm-suppress-shortcuts": "true" },
    element("div", { class: "cselab-sphere" }, element("div", {}, seen, note), element("div", {}, above, score, names)),
    folded("How do loss, alignment, uniformity and rank move?", plots),
    folded("What else can be set?", further), words.box);
  const show = () => {
    const settings = settingsOf(state);
    hands.loss.set(settings.loss);
    for (const name of /** @type {const} */ (["temperature", "noise", "batch", "artificial", "seed"]))
      hands[name].set(settings[name]);
    draw();
  };
  place.append(root);
  show();
  return {
    /** @param {ToyState} next */
    update(next) {
      if (JSON.stringify(next) === JSON.stringify(state)) return;
      paused();
      [run, rows, when] = [null, undefined, "Before training"];
      state = structuredClone(next);
      paused();
      show();
    },
    stop() {
      paused();
      words.stop();
      root.remove();
    },
  };
}
