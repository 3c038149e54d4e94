// SimCSE live: a toy encoder is trained in the page, on the sentences of the world and on those that the reader types. What is
// computed is in toy_encoder.js, the map is painted by toy_map.js.
import { button, choice, counters, drawn, element, playing, signed, slider, spoken } from "../kit/page_controls.js";
import { inner } from "../kit/geometry.js";
import {
  TOY_LOSSES, angleOf, bagOf, corpusOf, measuredPart, orthonormal, planeOf, sameTopic, settingsOf, training, untrained, vectorsOf,
} from "./toy_encoder.js";
import { beforeAndAfter, nearestDot, paint, placesOf, seenIn } from "./toy_map.js";

/**
 * @typedef {import("./toy_encoder.js").ToyState} ToyState
 * @typedef {import("./toy_encoder.js").Measured} Measured
 * @typedef {import("./toy_map.js").Picture} Picture
 * @typedef {{ plane: number[][], slots: number[], angles: number[] }} View the plane that is seen, the places of the topics on
 *   the rim, and where their names are now, on the way there
 * @typedef {{ i: number, j: number, before: number, now: number, same: boolean }} Pair two sentences, and their cosines
 */

const TOY_STEPS = 800;
const TOY_FRAME = 10; // milliseconds of steps in a frame, and at most three steps: the eye follows
const TOY_KEPT = 4; // runs that stay beside the newest
const TOY_OWN = 4; // sentences of the reader
const MOST_TIES = 5;
const TURNING = 0.25; // of the way to the newest plane, in a frame
/** The numbers that each axis holds, whatever the runs are. @type {{ key: keyof Measured, title: string, axis: number[] }[]} */
const TOY_CURVES = [
  { key: "same topic", title: "neighbours of the same topic: higher is better", axis: [0, 1] },
  { key: "loss", title: "loss of the batch", axis: [0, 1] },
  { key: "alignment", title: "alignment of the batch's two views: lower is better", axis: [0, 1] },
  { key: "uniformity", title: "uniformity: lower is better", axis: [-4, 0] },
  { key: "effective rank", title: "effective rank, of 8 dimensions", axis: [0, 8] },
];
const [TOY_WIDE, TOY_HIGH] = [300, 130];

/** What tells a run from the others. @param {ToyState["runs"][number]["settings"]} s */
const titleOf = (s) =>
  `${s.loss}, temperature ${s.temperature}, noise ${s.noise}, batch ${s.batch}` +
  (s.loss === "Barlow Twins" ? `, ${s.artificial} artificial rows` : "");

/** Ink and paper of a place, for a canvas. @param {HTMLElement} place @param {string[]} palette */
function coloursOf(place, palette) {
  const ink = getComputedStyle(place).color;
  const light = (ink.match(/[\d.]+/g) ?? []).slice(0, 3).reduce((sum, one) => sum + Number(one), 0) > 380;
  let paper = "";
  for (let one = /** @type {HTMLElement | null} */ (place); one && !paper; one = one.parentElement) {
    const found = getComputedStyle(one).backgroundColor;
    if (!/^(transparent|rgba\(.*, 0\))$/.test(found)) paper = found;
  }
  return { ink, paper: paper || (light ? "#111" : "#fff"), palette };
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
 * How far the reader's grades and the cosines order the pairs alike.
 * @param {Pair[]} pairs @param {(number | null)[]} grades
 */
function verdictOf(pairs, grades) {
  const named = (/** @type {Pair} */ { i, j }) => `${i + 1} and ${j + 1}`;
  const graded = pairs.flatMap((pair, k) => (grades[k] === null ? [] : [{ ...pair, grade: Number(grades[k]) }]));
  const [alike, wrong] = [[], []].map(() => /** @type {typeof graded[]} */ ([]));
  for (const high of graded)
    for (const low of graded)
      if (high.grade > low.grade) (high.now > low.now ? alike : wrong).push([high, low]);
  const blind = pairs.find(({ same }) => same);
  if (!alike.length && !wrong.length)
    return blind
      ? `To the toy, ${named(blind)} are one bag of words: it reads neither word order nor small words such as \u201cnot\u201d, so their ` +
          "cosine is 1.00 whatever it learns. Is that right? Grade this pair yourself, and another."
      : "Is the toy right? Grade two pairs yourself, from 0, nothing in common, to 5, the same meaning.";
  const count = alike.length + wrong.length;
  const agreed = `You and the toy agree on ${alike.length} of ${count} comparison${count === 1 ? "" : "s"} of pairs.`;
  if (!wrong.length) return agreed;
  const [high, low] = wrong.sort(([a, b], [c, d]) => d.now - c.now - (b.now - a.now))[0];
  return `${agreed} By your grades the toy is wrong about ${named(low)}: you gave ${low.grade}, and ${high.grade} to ${named(high)}, but ` +
    `the toy has ${signed(low.now, 2)} and ${signed(high.now, 2)}.`;
}

/**
 * Shows a state and lets a hand train.
 * @param {HTMLElement} place
 * @param {ToyState} shown
 * @param {(state: ToyState) => void} told hears when settings or sentences change and when a run ends
 * @param {{ palette: string[] }} carried
 */
export function mountToyTraining(place, shown, told, { palette }) {
  let state = structuredClone(shown);
  const tell = () => told(structuredClone(state));
  let corpus = corpusOf(state);
  let part = measuredPart(corpus);
  /** @type {(() => void) | null} */
  let halt = null;
  /** @type {ReturnType<typeof training> | null} */
  let run = null;
  let fresh = untrained(corpus, state.seed);
  let rows = fresh; // as the last run left them
  let [taken, looked] = [0, -1];
  let view = /** @type {View | null} */ (null);
  /** @type {(number | null)[]} */
  let grades = [];
  let strong = -1; // the pair under the hand
  /** @type {Record<number, number[][]>} */
  let trails = {};

  // ---- what is seen ------------------------------------------------------------------------------------------

  /** The reader's sentences as bags, and the numbers of those with a word that the toy knows. */
  let [bags, known] = [/** @type {ReturnType<typeof bagOf>[]} */ ([]), /** @type {number[]} */ ([])];
  const readTyped = () => {
    bags = state.typed.map((text) => bagOf(text, corpus));
    known = bags.flatMap(({ bag }, i) => (bag.length ? [i] : []));
    bags.forEach(({ bag, unknown }, i) => {
      const strange = unknown.map((word) => `\u201c${word}\u201d`).join(", ");
      fields[i].note.textContent = strange && `The toy does not know ${strange}${bag.length ? " and reads the rest." : "."}`;
    });
  };
  /** @param {typeof rows} table @returns {Record<number, number[]>} */
  const ownVectors = (table) => {
    const vectors = vectorsOf(table, known.map((i) => bags[i].bag));
    return Object.fromEntries(known.map((i, k) => [i, vectors[k]]));
  };
  /** @returns {Pair[]} */
  const pairsNow = () => {
    const [before, now] = [fresh, rows].map(ownVectors);
    const all = bags.map(({ bag }) => [...bag].sort((a, b) => a - b).join());
    return known.flatMap((j, k, of) => of.slice(0, k).map((i) => (
      { i, j, before: inner(before[i], before[j]), now: inner(now[i], now[j]), same: all[i] === all[j] })));
  };
  /** The view of rows, nearer to the newest plane by a share of the way. @param {typeof rows} table @param {View | null} from @param {number} share */
  const viewOf = (table, from, share) => {
    const x = vectorsOf(table, part.bags);
    const first = [...new Set(part.topics)].map((_, k) => k);
    const { plane, slots } = planeOf(x, part.topics, from?.slots ?? first);
    const goal = slots.map((slot) => angleOf(slot, slots.length));
    if (!from || share === 1) return { plane, slots, angles: goal };
    const turned = orthonormal(from.plane.map((row, c) => row.map((one, axis) => one + share * (plane[c][axis] - one))));
    const angles = from.angles.map((angle, k) => angle + share * Math.atan2(Math.sin(goal[k] - angle), Math.cos(goal[k] - angle)));
    return { plane: turned, slots, angles };
  };
  /** @param {typeof rows} table @param {View} view @param {Pair[]} pairs @param {"before" | "now"} when @returns {Picture} */
  const pictureOf = (table, { plane: seen, angles }, pairs, when) => {
    const topics = [...new Set(part.topics)];
    const dots = vectorsOf(table, part.bags).map((x, i) => ({ ...seenIn(seen, x), topic: topics.indexOf(part.topics[i]) }));
    const vectors = ownVectors(table);
    const own = known.map((i) => (
      { ...seenIn(seen, vectors[i]), name: String(i + 1), label: bags[i].first, trail: when === "now" ? trails[i] ?? [] : [] }));
    const twins = new Set(pairs.flatMap(({ j, same }) => (same ? [j] : []))); // these lie where another lies
    const ties = pairs.filter(({ i, j }) => !twins.has(i) && !twins.has(j)).slice(0, MOST_TIES).map((pair) => ({
      ends: /** @type {[number, number]} */ ([known.indexOf(pair.i), known.indexOf(pair.j)]),
      words: signed(pair[when], 2),
      strong: pairs.indexOf(pair) === strong,
    }));
    return { topics, angles, dots, own, ties, looked: when === "now" ? looked : -1 };
  };
  /** Two words of a pair, or its numbers. @param {Pair} pair */
  const wordsOf = ({ i, j }) => {
    const [a, b] = [i, j].map((one) => bags[one].first);
    return a !== b ? `${a} and ${b}` : `${i + 1} and ${j + 1}`;
  };
  /** The result in a line: the pair that is nearest now, and the one that fell most. @param {Pair[]} pairs */
  const resultOf = (pairs) => {
    const told = pairs.filter(({ same }) => !same);
    if (!told.length) return "";
    const nearest = told.reduce((one, other) => (other.now > one.now + 1e-9 ? other : one));
    const fell = told.reduce((one, other) => (other.before - other.now > one.before - one.now + 1e-9 ? other : one));
    if (!taken) return `Before training the nearest pair is ${wordsOf(nearest)}: ${signed(nearest.now, 2)}`;
    const say = (/** @type {Pair} */ pair) => `${wordsOf(pair)} ${signed(pair.before, 2)} to ${signed(pair.now, 2)}`;
    return nearest === fell ? say(fell) : `${say(nearest)}, ${say(fell)}`;
  };
  const topicsOf = () => {
    const last = run?.history.at(-1)?.["same topic"];
    return last ?? sameTopic(vectorsOf(rows, part.bags), part.topics);
  };

  /** @type {Picture} */
  let picture;
  /** @type {ReturnType<typeof coloursOf> | null} */
  let colours = null;
  const paintNow = () => {
    const size = canvas.clientWidth;
    if (!size) return;
    const sharp = devicePixelRatio || 1;
    if (canvas.width !== Math.round(size * sharp)) canvas.width = canvas.height = Math.round(size * sharp);
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    if (!halt || !colours) colours = coloursOf(root, palette);
    paint(pen, size, picture, colours);
  };
  /** @param {boolean} [still] turn the plane to its place at once */
  const draw = (still = !halt) => {
    view = viewOf(rows, view, still ? 1 : TURNING);
    const pairs = pairsNow();
    picture = pictureOf(rows, view, pairs, "now");
    paintNow();
    const when = taken ? `Step ${taken}` : "Before training";
    title.textContent = `${when}: ${Math.round(100 * topicsOf())} % of the nearest dots share the topic`;
    canvas.setAttribute("aria-label", `Map of ${part.texts.length} sentences. ${title.textContent}. Arrow keys read the sentences.`);
    drawPairs(pairs);
    result.textContent = resultOf(pairs);
    save.disabled = !taken || Boolean(halt);
    if (halt && run && run.history.length % 3) return; // the curves: every thirty steps
    drawCurves();
    if (halt || !run?.history.length) return;
    words.say(`${titleOf(run.settings)}: after ${taken} steps ${TOY_CURVES.map(({ key }) => `${key} ${signed(last(key), 3)}`).join(", ")}. ` +
      `${result.textContent}`);
  };
  /** @param {keyof Measured} key */
  const last = (key) => run?.history.at(-1)?.[key] ?? 0;
  const drawCurves = () => {
    const runs = run && !state.runs.some(({ number }) => number === run?.number) ? [...state.runs, run] : state.runs;
    plots.replaceChildren(...TOY_CURVES.map((curve) => chart(runs, curve)));
    names.replaceChildren(...[...runs].reverse().map(({ number, settings }) =>
      element("li", { class: `cselab-run-${number % 5}` }, titleOf(settings))));
    const row = runs.at(-1)?.history.at(-1);
    tally.show({ "rank of the centred batch": row ? `${row.rank} of 8` : "\u2013" });
  };

  // ---- the pairs of the reader's sentences -------------------------------------------------------------------

  /** @typedef {{ row: HTMLElement, before: HTMLElement, now: HTMLElement, span: HTMLElement, numbers: HTMLElement }} Line */
  /** @type {Line[]} */
  let lines = [];
  let drawnPairs = "";
  /** @param {number} cosine */
  const across = (cosine) => `${(50 + 50 * Math.max(-1, Math.min(1, cosine))).toFixed(1)}%`;
  /** @param {Pair[]} pairs */
  const drawPairs = (pairs) => {
    const which = pairs.map(({ i, j }) => `${i}${j}`).join();
    if (which !== drawnPairs) {
      drawnPairs = which;
      grades = pairs.map(() => null);
      lines = pairs.map(({ i, j }, k) => {
        const [before, now, span] = ["before", "now", "span"].map((name) => element("i", { class: `cselab-${name}-mark` }));
        const numbers = element("td", { class: "cselab-moved" });
        const grade = choice(`your grade of ${i + 1} and ${j + 1}`, ["\u2013", 0, 1, 2, 3, 4, 5], (value) => {
          grades[k] = typeof value === "number" ? value : null;
          verdict.textContent = verdictOf(pairsNow(), grades);
        });
        const select = /** @type {Node} */ (grade.box.lastChild);
        const badges = [i, j].map((one) => element("span", { class: "cselab-badge" }, String(one + 1)));
        const row = element("tr", {}, element("th", { scope: "row" }, ...badges),
          element("td", { class: "cselab-track" }, element("div", {}, span, before, now)), numbers, element("td", {}, select));
        const look = (/** @type {number} */ one) => () => {
          strong = one;
          draw();
        };
        row.addEventListener("pointerenter", look(k));
        row.addEventListener("pointerleave", look(-1));
        return { row, before, now, span, numbers };
      });
      table.replaceChildren(element("tr", {}, element("th", { scope: "col" }, "pair"),
        element("th", { scope: "col", class: "cselab-track" }, element("div", {}, element("span", {}, "\u22121"), element("span", {}, "0"), element("span", {}, "1"))),
        element("th", { scope: "col" }, "cosine"), element("th", { scope: "col" }, "your grade")), ...lines.map(({ row }) => row));
    }
    pairs.forEach((pair, k) => {
      const { before, now, span, numbers } = lines[k];
      before.style.left = across(pair.before);
      now.style.left = across(pair.now);
      const [low, high] = [pair.before, pair.now].sort((a, b) => a - b);
      span.style.left = across(low);
      span.style.width = `${(50 * (high - low)).toFixed(1)}%`;
      numbers.textContent = taken ? `${signed(pair.before, 2)} \u2192 ${signed(pair.now, 2)}` : signed(pair.now, 2);
    });
    table.hidden = !pairs.length;
    verdict.textContent = pairs.length ? verdictOf(pairs, grades) : "Type two sentences with words that the toy knows.";
  };

  // ---- the hand ----------------------------------------------------------------------------------------------

  const paused = () => {
    halt?.();
    halt = null;
    press.textContent = !taken ? "Train" : run && taken < TOY_STEPS ? "Go on" : "Train again";
  };
  /** Keep what was trained beside the next run. */
  const kept = () => {
    if (run?.history.length && !state.runs.some(({ number }) => number === run?.number))
      state.runs = [...state.runs, { number: run.number, settings: run.settings, history: run.history }].slice(-TOY_KEPT);
  };
  const press = button("Train", () => {
    if (halt) {
      paused();
      return draw();
    }
    if (!run || taken >= TOY_STEPS) {
      kept();
      run = training(state, corpus);
      [rows, taken, trails] = [run.rows, 0, {}];
      [fresh, view] = [untrained(corpus, state.seed), null];
    }
    const now = run;
    halt = playing(
      () => {
        const start = performance.now();
        for (let k = 0; k < 3 && taken < TOY_STEPS && (!k || performance.now() - start < TOY_FRAME); k++, taken++) now.step();
        return taken >= TOY_STEPS;
      },
      () => {
        const vectors = ownVectors(rows);
        draw();
        for (const i of known) {
          const { x, y } = seenIn(/** @type {View} */ (view).plane, vectors[i]);
          (trails[i] ??= []).push([x, y]);
        }
      },
      () => {
        kept();
        paused();
        draw();
        tell();
      },
      TOY_STEPS + 1,
    );
    press.textContent = "Pause";
  });
  press.classList.add("cselab-call");
  const clear = button("Forget", () => {
    paused();
    [run, taken, trails, state.runs, view] = [null, 0, {}, [], null];
    rows = fresh = untrained(corpus, state.seed);
    paused();
    draw();
    tell();
  });
  const save = /** @type {HTMLButtonElement} */ (button("Save picture", () => {
    const pairs = pairsNow();
    const now = viewOf(rows, view, 1);
    const both = [pictureOf(fresh, viewOf(fresh, now, 1), pairs, "before"), pictureOf(rows, now, pairs, "now")];
    const sentences = known.map((i) => `${i + 1}  ${state.typed[i]}`);
    const titles = ["Before training", `After ${taken} steps of ${(run?.settings ?? state).loss}`];
    beforeAndAfter(both, titles, resultOf(pairs), sentences, coloursOf(root, palette)).toBlob((blob) => {
      if (!blob) return;
      const link = element("a", { href: URL.createObjectURL(blob), download: "encoder-learns.png" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(/** @type {HTMLAnchorElement} */ (link).href), 1000);
    });
  }));
  /** A setting is of the next run: what runs now is kept as it is. @param {Partial<ToyState>} change */
  const changed = (change) => {
    paused();
    kept();
    Object.assign(state, change);
    if (run) run = null;
    paused();
    if (taken) press.textContent = "Train again";
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
  const fields = Array.from({ length: TOY_OWN }, (_, i) => {
    const input = /** @type {HTMLInputElement} */ (element("input", { type: "text", maxlength: 90, spellcheck: "false",
      "aria-label": `sentence ${i + 1}`, placeholder: "type a sentence" }));
    const note = element("p", { class: "cselab-unread", role: "status" });
    input.addEventListener("input", () => {
      state.typed = fields.map((one) => one.input.value);
      delete trails[i];
      readTyped();
      draw();
    });
    input.addEventListener("change", tell);
    return { input, note, box: element("div", { class: "cselab-own" }, element("span", { class: "cselab-badge" }, String(i + 1)), input, note) };
  });

  const canvas = /** @type {HTMLCanvasElement} */ (element("canvas", { tabindex: 0, role: "application" }));
  const tip = element("p", { class: "cselab-tip", hidden: "" });
  /** @param {number} i of the dot, or -1 */
  const look = (i) => {
    if (looked === i) return;
    looked = i;
    tip.hidden = i < 0;
    picture.looked = i;
    if (i >= 0) {
      const [x, y] = placesOf(canvas.clientWidth).at(picture.dots[i]);
      tip.replaceChildren(part.texts[i], element("small", {}, ` ${part.topics[i]}`));
      tip.style.left = `${Math.min(Math.max(x, 100), canvas.clientWidth - 100)}px`;
      tip.style.top = `${y}px`;
      tip.classList.toggle("cselab-tip-below", y < 60);
    }
    paintNow();
  };
  canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => look(nearestDot(picture.dots, canvas.clientWidth, offsetX, offsetY)));
  canvas.addEventListener("pointerleave", () => look(-1));
  canvas.addEventListener("blur", () => look(-1));
  canvas.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    look((looked + way + part.texts.length) % part.texts.length);
    words.say(`${part.texts[looked]} ${part.topics[looked]}`);
  });

  const title = element("p", { class: "cselab-title cselab-seen" });
  const result = element("p", { class: "cselab-result" });
  const verdict = element("p", { class: "cselab-verdict", role: "status" });
  const table = element("table");
  const tally = counters();
  const words = spoken();
  const plots = element("div", { class: "cselab-charts" });
  const names = element("ol", { class: "cselab-names" });
  const [settings, further] = [0, 1].map(() => element("div", { class: "cselab-hands" }));
  const { artificial, seed, ...main } = hands;
  settings.append(...Object.values(main).map(({ box }) => box));
  further.append(artificial.box, seed.box, tally.box, element("p", { class: "cselab-small" },
    "A batch of fewer than 9 sentences cannot fill 8 dimensions once it is centred; artificial rows, beneath a batch of " +
      "Barlow Twins, lift its rank."));
  /** @param {string} question @param {Node[]} inside */
  const folded = (question, ...inside) => element("details", {}, element("summary", {}, question), ...inside);
  const own = element("div", { class: "cselab-sentences" }, element("p", { class: "cselab-title" }, "Your sentences"), ...fields.map(({ box }) => box),
    element("div", { class: "cselab-buttons" }, press, clear, save));
  const map = element("div", { class: "cselab-map" }, title, element("div", { class: "cselab-canvas" }, canvas, tip));
  const pairs = element("div", { class: "cselab-pairs" }, result, table, verdict);
  const root = element("div", { class: "cselab-toy", "data-lm-suppress-shortcuts": "true" },
    element("div", { class: "cselab-learn" }, own, map, pairs), settings,
    folded("How do loss, alignment, uniformity and rank move?", plots, names), folded("What else can be set?", further), words.box);
  const show = () => {
    const of = settingsOf(state);
    hands.loss.set(of.loss);
    for (const name of /** @type {const} */ (["temperature", "noise", "batch", "artificial", "seed"])) hands[name].set(of[name]);
    fields.forEach(({ input }, i) => (input.value = state.typed[i] ?? ""));
    readTyped();
    draw();
  };
  place.append(root);
  show();
  const sized = new ResizeObserver(paintNow);
  sized.observe(canvas);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", paintNow);
  return {
    /** @param {ToyState} next */
    update(next) {
      if (JSON.stringify(next) === JSON.stringify(state)) return;
      paused();
      state = structuredClone(next);
      corpus = corpusOf(state);
      part = measuredPart(corpus);
      [run, taken, trails, view, looked] = [null, 0, {}, null, -1];
      rows = fresh = untrained(corpus, state.seed);
      paused();
      show();
    },
    stop() {
      paused();
      words.stop();
      sized.disconnect();
      scheme.removeEventListener("change", paintNow);
      root.remove();
    },
  };
}
