// A panel's figure on a page without a kernel: its controls, and what they show. figure.js stands above.
//
// `lookup` finds what is shown for the controls' values among the pictures that the page carries (static_export.py).

/**
 * @typedef {Record<string, any>} State the controls' values by name
 * @typedef {[label: string, value: any][]} Options
 * @typedef {{ name: string, label: string, kind: "list" | "slider" | "steps" | "check" | "text", options: Options, classes: string[], hides: boolean }} Control
 * @typedef {object} Shown
 * @property {{ data: object[], layout: object }[]} planes each as plotly.js takes it
 * @property {string} words the same for who cannot see it
 * @property {string} [note] the line under the picture
 * @property {string} [details] HTML under that
 * @property {State} [state] what the controls say then, where it is not what was asked
 * @property {string[]} [hidden] controls that say nothing then
 * @property {Record<string, Options>} [options] what they offer then
 * @typedef {{ controls: Control[], state: State, clicks: string, config: object, columns: number, questions: [string, number[]][], packed: string }} Piece
 */

import { check, choice, element, reading, slider, spoken, stepper } from "./page_controls.js";

const MOST = 10; // points told at once

/** What plotly.js would show of a hover text, which is a little HTML. @param {string} text */
const plainText = (text) =>
  new DOMParser().parseFromString(text.replace(/<br>/g, " \u00b7 "), "text/html").body.textContent ?? "";

/** @param {any} value */
const written = (value) => JSON.stringify(value);

/**
 * The picture that the page carries for these values, or null. Parts are made once, so that what two pictures share is
 * the same object in both, and figure.js draws it only once.
 * @param {State} state
 * @param {{ base: State, values: Record<string, any[]>, states: Record<string, number>, parts: any[], made?: Map<number, any> }} carried
 * @returns {Shown | null}
 */
function lookup(state, carried) {
  carried.made ??= new Map();
  const made = carried.made;
  const whole = (value) => {
    if (Array.isArray(value)) return value.map(whole);
    if (value === null || typeof value !== "object") return value;
    return "$" in value ? part(value.$) : Object.fromEntries(Object.entries(value).map(([key, one]) => [key, whole(one)]));
  };
  const part = (number) => {
    if (!made.has(number)) made.set(number, whole(carried.parts[number]));
    return made.get(number);
  };
  const numbers = Object.entries(carried.values).map(([name, values]) => {
    const asked = written(name in state ? state[name] : carried.base[name]);
    return values.findIndex((value) => written(value) === asked);
  });
  const found = carried.states[numbers.join()];
  if (found === undefined) return null;
  const shown = part(found);
  return { ...shown, words: shown.words.join(""), details: shown.details.join("") };
}

/** What Python packed: JSON as gzip as base64. @param {string} packed */
async function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/**
 * Draws the controls, the picture and the words of `piece` into `panel`, and again at each change.
 * @param {any} Plotly
 * @param {HTMLElement} panel holds an element each for controls, figure, note, details, known by their class
 * @param {Piece} piece
 */
async function cselabPage(Plotly, panel, { controls, state: base, clicks, packed, ...places }) {
  const carried = await unpacked(packed);
  const find = (name) => /** @type {HTMLElement} */ (panel.querySelector(`.cselab-${name}`));
  const [hands, place, note, details] = ["hands", "figure", "note", "details"].map(find);
  const said = element("p", { class: "cselab-small", role: "status" });
  const voice = spoken();
  const picked = element("div", { class: "cselab-picked" });
  const label = Object.fromEntries(controls.map((one) => [one.name, one.label]));
  const hides = new Set(controls.filter((one) => one.hides).map(({ name }) => name));
  let asked = {};
  let shown = /** @type {Shown} */ (lookup(base, carried));
  let options = {};

  const show = (found) => {
    shown = found;
    note.textContent = found.note ?? "";
    details.innerHTML = found.details ?? ""; // by Python, which escapes what users give
    picked.replaceChildren();
    for (const { name, made, all } of drawnControls) {
      options[name] = found.options?.[name] ?? all;
      made.offer(options[name]);
      made.set(now(name));
      if (hides.has(name)) made.box.hidden = made.box.inert = found.hidden?.includes(name) ?? false;
    }
  };
  const draw = (found) => {
    show(found);
    figure.update({ ...places, planes: found.planes }, found.words);
  };
  const now = (name) => ({ ...base, ...asked, ...shown.state })[name];
  const nameOf = (name, value) => options[name]?.find(([, one]) => written(one) === written(value))?.[0] ?? String(value);

  // A value that the page does not carry beside the others is shown alone, and the page says what went back.
  const choose = (name, value) => {
    const together = { ...asked, [name]: value };
    const shared = Object.fromEntries(Object.entries(together).filter(([one]) => one === name || !hides.has(one)));
    const alone = { [name]: value };
    const kept = [together, shared, alone].find((one) => lookup({ ...base, ...one }, carried));
    const found = kept && lookup({ ...base, ...kept }, carried);
    if (!kept || !found) {
      said.textContent = `This page does not hold ${label[name]} ${nameOf(name, value)}.`;
      return show(shown);
    }
    const back = Object.keys(asked).filter((one) => one !== name && written(asked[one]) !== written(base[one]));
    const lost = kept === alone ? back.map((one) => `${label[one]} is back at ${nameOf(one, base[one])}`) : [];
    asked = kept;
    said.textContent = kept === alone ? `This page does not hold these together: ${lost.join(", ")}.` : "";
    draw(found);
    voice.say(found.words.slice(0, 300));
  };

  const drawnControls = controls.map(({ name, label, kind, options: all, classes }) => {
    const chosen = (value) => choose(name, value);
    const make = { list: choice, slider, steps: stepper, check, text: reading }[kind];
    const made = make(label, all, chosen);
    made.box.classList.add(...classes);
    return { name, all, made };
  });
  hands.replaceChildren(...drawnControls.map(({ made }) => made.box));
  if (controls.length) hands.after(said, voice.box);
  details.before(picked);

  // A click chooses what a control offers; else, as a lasso does, it shows what the points say when pointed at.
  const told = (event, rows, texts) => {
    const offered = options[clicks] ?? [];
    const [row] = rows;
    const [, value] = offered.find(([, one]) => one === row || (Array.isArray(one) && one.includes(row))) ?? [];
    if (event === "click" && value !== undefined) return choose(clicks, value);
    const lines = texts.slice(0, MOST).map((text) => element("li", {}, plainText(text)));
    picked.replaceChildren(element("ul", {}, ...lines), texts.length > MOST ? `and ${texts.length - MOST} more` : "");
  };

  place.textContent = "";
  show(shown);
  const figure = cselabFigure(Plotly, place, { ...places, planes: shown.planes }, shown.words, told);
  return { choose };
}
