// Sentences that the reader types: their cosines under each encoder, and where a pair lies among graded ones.
// The encoders are computed in the page by encoder.js.
import { choice, drawn, element, signed, spoken } from "../kit/page_controls.js";
import { inner, onSphere } from "../kit/geometry.js";
import { encodeTexts, readEncoders } from "../kit/encoder.js";

/**
 * @typedef {import("../kit/encoder.js").Encoder} Encoder
 * @typedef {import("../kit/encoder.js").Encoded} Encoded
 * @typedef {{ sentences: string[], pair: number[] }} CosinesState
 * @typedef {import("../kit/encoder.js").Carried & { grades: number[], cosines: number[][] }} CarriedCosines
 */

const MOST_TYPED = 8;
const TYPING = 250; // milliseconds after the last key
const REMEMBERED_TEXTS = 200;
const TEXT = /[^\p{White_Space}\x1c-\x1f]/u; // what Python's strip leaves something of
const TINT = 0.55; // of a cosine of 1; more would swallow the number

/** Once the work of a moment is drawn, the next may begin. */
const drawnFirst = () => new Promise((resolve) => setTimeout(resolve));

/** What of a sentence the encoder does not read. @param {Encoder} encoder @param {Encoded} one */
function remarksOn(encoder, { ids, unknown, lost }) {
  const words = [...new Set(unknown)].map((word) => (word.length > 20 ? `${word.slice(0, 20)}\u2026` : word));
  const last = encoder.longest - 2;
  return [
    ...(ids.length === 2 ? ["nothing of it is read"] : []),
    ...(unknown.length ? [`${words.slice(0, 8).join(", ")} ${words.length === 1 ? "is" : "are"} not in the vocabulary: all ` +
      "unknown words are the same token, [UNK]"] : []),
    ...(lost ? [`${last} of ${last + lost} tokens are encoded; the rest is truncated`] : []),
    ...(encoder.trained && ids.length > encoder.trained
      ? [`longer than the ${encoder.trained} tokens of pretraining: what stands after them is read badly`] : []),
  ];
}

/** The tokens of a sentence, each in a box. @param {Encoded} one */
const boxes = ({ pieces }) =>
  element("li", {}, ...pieces.slice(1, -1).flatMap((piece) => [
    element("span", { class: piece === "[UNK]" ? "cselab-piece cselab-unknown" : "cselab-piece" }, piece), " ",
  ]));

/** The middle of some numbers. @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((x, y) => x - y);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;
}

/** The cosines of each grade that occurs, the lowest grade first. @param {number[]} cosines @param {number[]} grades */
const byGrade = (cosines, grades) =>
  [0, 1, 2, 3, 4, 5].map((grade) => ({ grade, cosines: cosines.filter((_, i) => Math.round(grades[i]) === grade) }))
    .filter((one) => one.cosines.length);

/**
 * Where the cosine of a pair lies among those of graded pairs, a row of strokes for each grade with a dot at the median.
 * @param {ReturnType<typeof byGrade>} graded
 * @param {number} low of the axis
 * @param {number | null} mine
 * @param {string} role of the encoder: "before", "after" or ""
 * @param {string} told
 */
function ruler(graded, low, mine, role, told) {
  /** @param {number} cosine */
  const across = (cosine) => 112 + (270 * (cosine - low)) / (1 - low);
  /** @param {number} grade */
  const up = (grade) => 136 - 21 * grade;
  const rows = graded.map(({ grade, cosines }) =>
    drawn("path", { d: cosines.map((one) => `M${across(one).toFixed(1)},${up(grade)}v-13`).join(""), class: `cselab-stroke ${role && `cselab-${role}-stroke`}` }));
  const dots = graded.map(({ grade, cosines }) => [across(median(cosines)).toFixed(1), up(grade) - 6.5]);
  const meant = { 0: "unrelated", 5: "same meaning" };
  const names = graded.map(({ grade }) =>
    drawn("text", { x: 104, y: up(grade) - 3, class: "cselab-tick" }, `${meant[grade] ?? ""} ${grade}`));
  const ticks = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((tick) => 1 - tick / 5).filter((tick) => tick > low - 1e-6).map((tick) =>
    drawn("text", { x: across(tick), y: 158, class: "cselab-middle" }, signed(tick, 1)));
  const line = mine === null ? [] : [
    drawn("path", { d: `M${across(mine).toFixed(1)},13V140`, class: "cselab-mine" }),
    drawn("text", { x: Math.max(140, Math.min(across(mine), 366)), y: 10, class: "cselab-middle cselab-your" }, "your pair"),
  ];
  return drawn("svg", { viewBox: "0 0 400 162", role: "img", "aria-label": told },
    drawn("path", { d: "M112,140H382", class: "cselab-axis" }), ...rows,
    drawn("path", { d: `M${dots.join("L")}`, class: "cselab-medians" }),
    ...dots.map(([cx, cy]) => drawn("circle", { cx, cy, r: 4 }, drawn("title", {}, "median"))),
    ...names, drawn("text", { x: 0, y: 10 }, "grade"), drawn("text", { x: 96, y: 158, class: "cselab-tick" }, "cosine"), ...ticks, ...line);
}

/**
 * Shows a state and lets a hand type.
 * @param {HTMLElement} place
 * @param {CosinesState} shown
 * @param {(state: CosinesState) => void} told hears of the sentences once they are computed
 * @param {CarriedCosines} carried
 */
export function mountSentenceCosines(place, shown, told, carried) {
  let state = structuredClone(shown);
  /** @type {Encoder[]} */
  let encoders = [];
  /** @type {Map<string, Encoded>[]} */
  let known = [];
  let runs = 0; // a later one ends those before it
  let waiting = 0;

  const area = /** @type {HTMLTextAreaElement} */ (element("textarea", { rows: 4, spellcheck: "false" }));
  const status = element("p", { class: "cselab-small", role: "status" });
  const remarks = element("ul", { class: "cselab-remarks" });
  const pieces = element("ol", { class: "cselab-pieces" });
  const piecesOf = element("summary");
  const tokens = element("details", { hidden: "" }, piecesOf, pieces);
  const wide = "grid-template-columns: repeat(auto-fit, minmax(min(100%, 27em), 36em)); column-gap: 56px";
  const planes = element("div", { class: "cselab-cosines", style: wide });
  const words = spoken();

  const lines = () => area.value.split("\n").map((line) => line.trim()).filter((line) => TEXT.test(line));
  const pairNames = () => state.sentences.flatMap((_, j) => state.sentences.slice(0, j).map((__, i) => `${i + 1} and ${j + 1}`));
  /** @param {number} i @param {number} j */
  const choose = (i, j) => {
    state.pair = [i, j];
    draw();
    told(structuredClone(state));
  };
  const pairChoice = () => choice("pair to look at", pairNames(), (name) => {
    const [i, j] = name.split(" and ").map((one) => Number(one) - 1);
    choose(i, j);
  });
  let pairs = pairChoice();
  pairs.box.hidden = true; // until there are cosines

  /** @param {number} number of the encoder */
  const found = (number) => state.sentences.map((text) => /** @type {Encoded} */ (known[number].get(text)));

  const draw = () => {
    const [i, j] = state.pair;
    const paired = i !== j;
    const all = encoders.map((_, number) => {
      const vectors = found(number).map(({ vector }) => onSphere(Array.from(vector)));
      return vectors.map((x) => vectors.map((y) => inner(x, y)));
    });
    const lowest = Math.min(0.9, ...carried.cosines.flat(), ...all.flat(2));
    const low = Math.floor(lowest * 10) / 10;
    /** @type {string[]} */
    const said = [];
    planes.replaceChildren(...encoders.map(({ name }, number) => {
      const cosines = all[number];
      const heads = cosines.map((_, k) => element("th", { scope: "col" }, String(k + 1)));
      const rows = cosines.map((row, r) => element("tr", {}, element("th", { scope: "row", style: "text-align: left; font-weight: 400" }, `${r + 1} ${state.sentences[r]}`),
        ...row.map((cosine, c) => {
          const cell = element("td", { style: `background: rgba(0, 114, 178, ${((TINT * (cosine - low)) / (1 - low)).toFixed(2)})` },
            signed(cosine, 2));
          if (r !== c) cell.addEventListener("click", () => choose(Math.min(r, c), Math.max(r, c)));
          else cell.classList.add("cselab-own-cosine");
          if (paired && ((r === i && c === j) || (r === j && c === i))) cell.classList.add("cselab-chosen");
          return cell;
        })));
      const mine = cosines[i][j];
      const below = carried.cosines[number].filter((one) => one < mine - 1e-6).length / carried.grades.length;
      const where = `cosine ${signed(mine, 3)}, above ${Math.round(100 * below)} % of ${carried.grades.length} graded pairs`;
      const graded = byGrade(carried.cosines[number], carried.grades);
      const far = graded.map((one) => Math.abs(median(one.cosines) - mine));
      const { grade } = graded[far.indexOf(Math.min(...far))];
      const role = !number ? "before" : number === encoders.length - 1 ? "after" : "";
      if (paired) said.push(`${name}: ${i + 1} and ${j + 1}, ${where}`);
      return element("figure", {},
        element("figcaption", { class: "cselab-title" },
          paired ? `${name}: ${signed(mine, 2)}, nearest to the median of grade ${grade}` : "Type a second sentence, to compare."),
        element("table", {}, element("tr", {}, element("td"), ...heads), ...rows),
        ruler(graded, low, paired ? mine : null, role,
          `Cosines of graded pairs under ${name}${paired ? `; the pair has ${where}` : ""}`),
        element("p", { class: "cselab-small" }, paired ? `C${where.slice(1)}` : ""));
    }));
    tokens.hidden = false;
    piecesOf.textContent = `The tokens, as ${encoders[0].name} reads them`;
    pieces.replaceChildren(...found(0).map(boxes));
    const notes = state.sentences.flatMap((_, k) => {
      const each = encoders.map((encoder, number) => remarksOn(encoder, found(number)[k]).join("; "));
      const same = each.every((one) => one === each[0]);
      const different = same ? each.slice(0, 1) : each.map((one, number) => one && `${encoders[number].name}: ${one}`);
      return different.filter(Boolean).map((one) => `Sentence ${k + 1}: ${one}.`);
    });
    const more = lines().length - MOST_TYPED;
    if (more > 0) notes.push(`The first ${MOST_TYPED} lines are read, ${more} more are not.`);
    remarks.replaceChildren(...notes.map((note) => element("li", {}, note)));
    words.say([...said, ...notes].join(". "));
  };

  /** @param {number[]} [pair] to look at */
  const compute = async (pair) => {
    const mine = ++runs;
    const typed = lines().slice(0, MOST_TYPED);
    if (!encoders.length) return;
    if (!typed.length) {
      status.textContent = "Nothing is typed: type a sentence, and a second one on a line of its own.";
      tokens.hidden = pairs.box.hidden = true;
      planes.replaceChildren();
      remarks.replaceChildren();
      return;
    }
    let [spent, fresh] = [0, 0];
    for (const [number, encoder] of encoders.entries())
      for (const [k, text] of typed.entries())
        if (!known[number].has(text)) {
          status.textContent = `Computing sentence ${k + 1} by ${encoder.name} \u2026`;
          await drawnFirst();
          if (mine !== runs) return;
          const start = performance.now();
          known[number].set(text, encodeTexts(encoder, [text])[0]);
          spent += performance.now() - start;
          fresh += 1;
        }
    for (const texts of known)
      for (const text of [...texts.keys()].slice(0, -REMEMBERED_TEXTS)) if (!typed.includes(text)) texts.delete(text);
    const before = JSON.stringify(state);
    const [i, j] = pair ?? state.pair;
    state = { sentences: typed, pair: i !== j && j < typed.length ? [i, j] : [0, Math.min(1, typed.length - 1)] };
    status.textContent = fresh
      ? `Computed in this page, ${(spent / fresh).toFixed(0)} ms a sentence; nothing was sent anywhere.`
      : "Computed in this page; nothing was sent anywhere.";
    const next = pairChoice();
    pairs.box.replaceWith(next.box);
    pairs = next;
    show();
    if (JSON.stringify(state) !== before) told(structuredClone(state));
  };
  const show = () => {
    const [i, j] = state.pair;
    pairs.set(`${i + 1} and ${j + 1}`);
    pairs.box.hidden = state.sentences.length < 3;
    draw();
  };
  area.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => compute(), TYPING);
  });

  area.value = state.sentences.join("\n");
  const label = element("label", { class: "cselab-typing" },
    element("span", {}, `Type sentences, one a line, at most ${MOST_TYPED}. Click a cosine to see its pair among graded pairs.`), area);
  const note = element("p", {}, "A stroke is a graded pair, a dot the median of its grade, the blue line your pair: under a good " +
    "encoder the line meets the dot of the grade that your pair deserves.");
  const root = element("div", { class: "cselab-typed", "data-lm-suppress-shortcuts": "true" },
    label, status, element("div", { class: "cselab-hands" }, pairs.box), remarks, note, planes, tokens, words.box);
  place.append(root);
  const say = (/** @type {string} */ what) => {
    status.textContent = what;
  };
  const ready = (/** @type {Encoder[]} */ read) => {
    encoders = read;
    known = read.map(() => new Map());
    return compute();
  };
  readEncoders(carried, say).then(ready, (error) => say(`The encoder cannot be read here: ${error.message}`));
  return {
    /** @param {CosinesState} next */
    update(next) {
      if (JSON.stringify(next) === JSON.stringify(state)) return;
      area.value = next.sentences.join("\n");
      void compute(next.pair);
    },
    stop() {
      runs += 1;
      encoders = [];
      clearTimeout(waiting);
      words.stop();
      root.remove();
    },
  };
}
