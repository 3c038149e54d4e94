// Controls with a visible name, for panels that compute in the page.

/**
 * @param {string} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {(Node | string)[]} children
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {(Node | string)[]} children
 */
export function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/**
 * What a control offers: values, or [label, value].
 * @typedef {(string | number | [label: string, value: any])[]} Offered
 */

/** @param {Offered} offered @returns {[label: string, value: any][]} */
const named = (offered) => offered.map((one) => (Array.isArray(one) ? one : [String(one), one]));

/** @param {[label: string, value: any][]} options @param {any} value the place of its option, or -1 */
const placeOf = (options, value) => options.findIndex(([, one]) => JSON.stringify(one) === JSON.stringify(value));

/**
 * A slider over so many values.
 * @param {string} name
 * @param {Offered} offered
 * @param {(value: any) => void} moved
 */
export function slider(name, offered, moved) {
  let options = named(offered);
  const input = /** @type {HTMLInputElement} */ (element("input", { type: "range", min: 0, max: options.length - 1 }));
  const output = element("output");
  const say = (words = options[Number(input.value)][0]) => {
    output.textContent = words;
    input.setAttribute("aria-valuetext", words);
  };
  input.addEventListener("input", () => {
    say();
    moved(options[Number(input.value)][1]);
  });
  return {
    box: element("label", {}, element("span", {}, name), input, output),
    input,
    /** @param {Offered} others */
    offer(others) {
      options = named(others);
      input.max = String(options.length - 1);
    },
    /** @param {any} value of numbers the nearest is shown */
    set(value) {
      let place = placeOf(options, value);
      if (place < 0) {
        const far = options.map(([, one]) => Math.abs(one - value));
        place = far.indexOf(Math.min(...far));
      }
      input.value = String(place);
      const found = options[place];
      say(found[1] === value || typeof value !== "number" ? found[0] : String(Number(value.toPrecision(3))));
    },
  };
}

/**
 * A list to choose from; blank while something else is shown than it offers.
 * @param {string} name
 * @param {Offered} offered
 * @param {(value: any) => void} chosen
 */
export function choice(name, offered, chosen) {
  /** @type {[label: string, value: any][]} */
  let options = [];
  const select = /** @type {HTMLSelectElement} */ (element("select", { "aria-label": name }));
  const offer = (/** @type {Offered} */ others) => {
    const next = named(others);
    if (JSON.stringify(next) === JSON.stringify(options)) return;
    options = next;
    select.replaceChildren(...options.map(([label]) => element("option", { value: label }, label)));
  };
  offer(offered);
  select.addEventListener("change", () => chosen(options[select.selectedIndex][1]));
  return {
    box: element("label", {}, element("span", {}, name), select),
    offer,
    /** @param {any} value */
    set(value) {
      select.selectedIndex = placeOf(options, value);
    },
  };
}

/**
 * A box to tick.
 * @param {string} name
 * @param {Offered} _ no and yes
 * @param {(value: boolean) => void} ticked
 */
export function check(name, _, ticked) {
  const input = /** @type {HTMLInputElement} */ (element("input", { type: "checkbox" }));
  input.addEventListener("change", () => ticked(input.checked));
  return {
    box: element("label", { class: "cselab-check" }, input, element("span", {}, name)),
    offer() {},
    /** @param {boolean} value */
    set(value) {
      input.checked = value;
    },
  };
}

/**
 * A text that cannot be changed here; none is not shown.
 * @param {string} name
 */
export function reading(name) {
  const output = element("output");
  const box = element("label", { class: "cselab-reading" }, element("span", {}, name), output);
  return {
    box,
    offer() {},
    /** @param {string} value */
    set(value) {
      output.textContent = value;
      box.hidden = !value;
    },
  };
}

/**
 * A slider with a button that plays it, a value each half second.
 * @param {string} name
 * @param {Offered} offered
 * @param {(value: any) => void} moved
 */
export function stepper(name, offered, moved) {
  let playing = 0;
  const made = slider(name, offered, (value) => {
    stop();
    moved(value);
  });
  const { input, box } = made;
  const go = (/** @type {number} */ place) => {
    input.value = String(place);
    moved(named(offered)[place][1]);
  };
  const stop = () => {
    clearInterval(playing);
    playing = 0;
    press.textContent = "\u25b6";
    press.setAttribute("aria-label", `play ${name}`);
  };
  const onwards = () => {
    go(Number(input.value) + 1);
    if (input.value === input.max) stop();
  };
  const press = button("", () => {
    if (playing) return stop();
    press.textContent = "\u25a0";
    press.setAttribute("aria-label", `stop ${name}`);
    go(input.value === input.max ? 0 : Number(input.value));
    playing = window.setInterval(onwards, 500);
  });
  stop();
  const both = element("div", { class: "cselab-stepper" }, press, box);
  return {
    ...made,
    box: both,
    offer(/** @type {Offered} */ others) {
      offered = others;
      made.offer(others);
    },
  };
}

/** @param {string} name @param {() => void} pressed */
export function button(name, pressed) {
  const made = element("button", { type: "button" }, name);
  made.addEventListener("click", pressed);
  return made;
}

/** @param {number} value @param {number} digits */
export const signed = (value, digits) => (Number(value.toFixed(digits)) + 0).toFixed(digits).replace("-", "\u2212"); // no \u22120.00

/** Numbers with a name each: `show({ loss: "1.23" })`. */
export function counters() {
  const list = element("dl", { class: "cselab-counters" });
  return {
    box: list,
    /** @param {Record<string, string>} told */
    show(told) {
      const parts = Object.entries(told).map(([name, value]) =>
        element("div", {}, element("dt", {}, name), element("dd", {}, value)),
      );
      list.replaceChildren(...parts);
    },
  };
}

/** A line in words that a screen reader says when it has not changed for a moment. */
export function spoken() {
  const line = element("p", { class: "cselab-said", "aria-live": "polite" });
  let waiting = 0;
  return {
    box: line,
    /** @param {string} words */
    say(words) {
      clearTimeout(waiting);
      waiting = window.setTimeout(() => {
        if (line.textContent !== words) line.textContent = words;
      }, 250);
    },
    stop() {
      clearTimeout(waiting);
    },
  };
}

/**
 * Calls `step` once a frame until it says that it is done; at once where the reader wants no motion.
 * @param {() => boolean} step
 * @param {() => void} shown after each frame
 * @param {() => void} ended
 * @param {number} most steps
 * @returns {() => void} stops it
 */
export function playing(step, shown, ended, most) {
  let [frame, taken] = [0, 0];
  const atOnce = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const go = () => {
    let done = false;
    do done = step() || ++taken >= most;
    while (atOnce && !done);
    shown();
    if (done) ended();
    else frame = requestAnimationFrame(go);
  };
  frame = requestAnimationFrame(go);
  return () => cancelAnimationFrame(frame);
}
