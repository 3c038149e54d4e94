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
 * A slider over so many values.
 * @param {string} name
 * @param {number[]} values
 * @param {(value: number) => void} moved
 */
export function slider(name, values, moved) {
  const input = /** @type {HTMLInputElement} */ (element("input", { type: "range", min: 0, max: values.length - 1 }));
  const output = element("output");
  const say = () => {
    output.textContent = String(values[Number(input.value)]);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    say();
    moved(values[Number(input.value)]);
  });
  return {
    box: element("label", {}, element("span", {}, name), input, output),
    /** @param {number} value the nearest is shown */
    set(value) {
      const far = values.map((one) => Math.abs(one - value));
      input.value = String(far.indexOf(Math.min(...far)));
      say();
      output.textContent = String(Number(value.toPrecision(3)));
    },
  };
}

/**
 * A list to choose from.
 * @param {string} name
 * @param {string[]} options
 * @param {(value: string) => void} chosen
 */
export function choice(name, options, chosen) {
  const select = /** @type {HTMLSelectElement} */ (
    element("select", {}, ...options.map((option) => element("option", { value: option }, option)))
  );
  select.addEventListener("change", () => chosen(select.value));
  return {
    box: element("label", {}, element("span", {}, name), select),
    /** @param {string} value */
    set(value) {
      select.value = value;
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
export const signed = (value, digits) => value.toFixed(digits).replace("-", "\u2212");

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
