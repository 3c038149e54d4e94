// The sphere: points that a hand drags, the force of a loss on each, and "let go". What is computed is in sphere_points.js.
import { button, choice, counters, drawn, element, playing, signed, slider, spoken } from "../kit/page_controls.js";
import { alignment, effectiveRank, inner, onSphere, uniformity } from "../kit/geometry.js";
import {
  KINDS, SPHERE_LOSSES, STARTS, descent, forces, inDimensions, refusal, resize, startAgain, strongest,
} from "./sphere_points.js";

/**
 * @typedef {import("./sphere_points.js").SphereState} SphereState
 * @typedef {import("./sphere_points.js").Kind} Kind
 * @typedef {{ group: SVGElement, arrow: SVGElement, tie: SVGElement | null }} Mark
 */

const SPHERE_TEMPERATURES = [0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 2];
const SPHERE_NOISE = [0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8];
const ONE_KIND = { anchors: "anchor", positives: "positive", negatives: "negative" };
const SHAPES = {
  anchors: "M0.07,0A0.07,0.07 0 1 1 -0.07,0A0.07,0.07 0 1 1 0.07,0Z",
  positives: "M0,-0.1L0.1,0L0,0.1L-0.1,0Z",
  negatives: "M-0.06,-0.06H0.06V0.06H-0.06Z",
};
const LONGEST = 0.5; // of an arrow, in radii
const FAINTEST = 0.05; // a force whose arrow has full length only if there is a stronger one
const DEGREE = Math.PI / 180;

/** Parallels, then meridians: a point for each angle. @type {((t: number) => number[])[]} */
const GRATICULE = [
  ...[-60, -30, 0, 30, 60].map((latitude) => {
    const [c, s] = [Math.cos(latitude * DEGREE), Math.sin(latitude * DEGREE)];
    return (/** @type {number} */ t) => [c * Math.cos(t), s, c * Math.sin(t)];
  }),
  ...[0, 30, 60, 90, 120, 150].map((longitude) => {
    const [c, s] = [Math.cos(longitude * DEGREE), Math.sin(longitude * DEGREE)];
    return (/** @type {number} */ t) => [Math.cos(t) * c, Math.sin(t), Math.cos(t) * s];
  }),
];

/** @param {number[][]} m @param {number[]} x */
const turned = (m, x) => m.map((row) => row.reduce((sum, one, c) => sum + one * x[c], 0));

/**
 * Shows a state and lets a hand change it.
 * @param {HTMLElement} place
 * @param {SphereState} shown
 * @param {(state: SphereState) => void} told hears of a change once the hand lets go
 */
export function mountSphere(place, shown, told) {
  let state = structuredClone(shown);
  const tell = () => told(structuredClone(state));
  let view = { yaw: 0.5, pitch: 0.35 };
  let start = "anywhere";
  /** @type {(() => void) | null} */
  let halt = null;
  /** @type {Record<Kind, Mark[]>} */
  let marks = { anchors: [], positives: [], negatives: [] };

  const isCircle = () => state.anchors[0].length === 2;
  /** What the eye sees of a point: right, down, towards the eye. @param {number[]} x */
  const seen = (x) => {
    if (x.length === 2) return [x[0], -x[1], 1];
    const [right, up, near] = turned(camera(), x);
    return [right, -up, near];
  };
  const camera = () => {
    const [a, b] = [view.yaw, view.pitch];
    const [ca, sa, cb, sb] = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b)];
    return [[ca, 0, -sa], [-sa * sb, cb, -ca * sb], [sa * cb, sb, ca * cb]];
  };
  /** The point under a place of the picture, on the side that faces the eye. @param {number} right @param {number} up */
  const under = (right, up) => {
    if (isCircle()) return onSphere([right, up]);
    const out = Math.hypot(right, up);
    const [x, y] = out > 1 ? [right / out, up / out] : [right, up];
    const at = [x, y, Math.sqrt(Math.max(0, 1 - x * x - y * y))];
    const m = camera();
    return onSphere([0, 1, 2].map((c) => m[0][c] * at[0] + m[1][c] * at[1] + m[2][c] * at[2]));
  };

  // ---- the picture -------------------------------------------------------------------------------------------

  const globe = drawn("circle", { r: 1 });
  const net = drawn("path", { class: "cselab-net" });
  const points = drawn("g");
  const svg = /** @type {SVGSVGElement} */ (drawn("svg", { viewBox: "-1.3 -1.3 2.6 2.6", role: "group" }, globe, net, points));

  const drawBack = () => {
    const circle = isCircle();
    svg.setAttribute("aria-label", circle ? "points on a circle" : "points on a sphere");
    globe.setAttribute("class", circle ? "cselab-circle" : "cselab-globe");
    net.setAttribute("d", circle ? "" : GRATICULE.map(ring).join(""));
    const named = { tabindex: "0", role: "application", "aria-label": "the sphere: arrow keys turn it" };
    for (const [name, value] of Object.entries(named))
      if (circle) globe.removeAttribute(name);
      else globe.setAttribute(name, value);
  };
  /** The front half of a circle on the sphere. @param {(t: number) => number[]} at */
  const ring = (at) => {
    let [path, pen] = ["", "M"];
    for (let t = 0; t <= 360; t += 6) {
      const [x, y, near] = seen(at(t * DEGREE));
      path += near >= 0 ? `${pen}${x.toFixed(3)},${y.toFixed(3)}` : "";
      pen = near >= 0 ? "L" : "M";
    }
    return path;
  };

  const build = () => {
    points.replaceChildren();
    marks = { anchors: [], positives: [], negatives: [] };
    for (const kind of /** @type {Kind[]} */ (["negatives", "positives", "anchors"])) {
      marks[kind] = state[kind].map((_, i) => {
        const arrow = drawn("path", { class: "cselab-arrow" });
        const tie = kind === "positives" ? drawn("path", { class: "cselab-tie" }) : null;
        const group = drawn(
          "g",
          { class: `cselab-point cselab-${kind}`, tabindex: 0, role: "slider", "aria-label": `${ONE_KIND[kind]} ${i + 1}` },
          drawn("circle", { r: 0.16, class: "cselab-hold" }),
          drawn("path", { d: SHAPES[kind] }),
          drawn("text", { y: 0.029 }, kind === "negatives" ? "\u2212" : String(i + 1)),
        );
        hold(group, kind, i);
        return { group, arrow, tie };
      });
    }
    const all = KINDS.flatMap((kind) => marks[kind]);
    points.append(...all.flatMap(({ tie }) => tie ?? []), ...all.map(({ arrow }) => arrow));
    points.append(...["negatives", "positives", "anchors"].flatMap((kind) => marks[/** @type {Kind} */ (kind)].map((m) => m.group)));
    drawBack();
  };

  /** An arrow from a point along its force. @param {number[]} x @param {number[]} force
   * @param {number} apart from the centre: arrows along a circle would cover its points */
  const arrowPath = (x, force, apart) => {
    const size = Math.hypot(...force);
    if (size < 0.02) return "";
    const steps = 12;
    const along = Array.from({ length: steps + 1 }, (_, k) => {
      const angle = (size * k) / steps;
      return seen(x.map((one, c) => Math.cos(angle) * one + (Math.sin(angle) * force[c]) / size)).map((one) => one * apart);
    });
    const [tip, before] = [along[steps], along[steps - 3]];
    const turn = Math.atan2(tip[1] - before[1], tip[0] - before[0]);
    const head = Math.min(0.07, 0.6 * size);
    const barbs = [2.6, -2.6].map((side) => [tip[0] + head * Math.cos(turn + side), tip[1] + head * Math.sin(turn + side)]);
    /** @param {number[]} p */
    const place2 = (p) => `${p[0].toFixed(4)},${p[1].toFixed(4)}`;
    return `M${along.map(place2).join("L")}M${place2(barbs[0])}L${place2(tip)}L${place2(barbs[1])}`;
  };

  /** @param {number[]} x in words */
  const whereabouts = (x) =>
    x.length === 2
      ? `${Math.round((Math.atan2(x[1], x[0]) / DEGREE + 360) % 360)} degrees`
      : `latitude ${Math.round(Math.asin(x[1]) / DEGREE)}, longitude ${Math.round(Math.atan2(x[2], x[0]) / DEGREE)} degrees`;

  const draw = () => {
    const why = refusal(state);
    const found = why ? null : forces(state);
    const most = found ? strongest(found) : 0;
    const scale = LONGEST / Math.max(most, FAINTEST);
    for (const kind of KINDS)
      state[kind].forEach((x, i) => {
        const { group, arrow, tie } = marks[kind][i];
        const [right, down, near] = seen(x);
        const force = found ? found[kind][i].map((one) => one * scale) : x.map(() => 0);
        const behind = near < 0;
        group.setAttribute("transform", `translate(${right.toFixed(4)},${down.toFixed(4)})`);
        group.classList.toggle("cselab-behind", behind);
        group.setAttribute("aria-valuenow", String(Math.round(Math.atan2(x[1], x[0]) / DEGREE)));
        group.setAttribute("aria-valuemin", "-180");
        group.setAttribute("aria-valuemax", "180");
        const pushed = found ? `, force ${Math.hypot(...found[kind][i]).toPrecision(2)}` : "";
        group.setAttribute("aria-valuetext", whereabouts(x) + pushed);
        arrow.setAttribute("d", arrowPath(x, force, isCircle() ? (kind === "positives" ? 0.84 : 1.15) : 1));
        arrow.classList.toggle("cselab-behind", behind);
        if (tie) {
          const [r, d] = seen(state.anchors[i]);
          tie.setAttribute("d", `M${right.toFixed(4)},${down.toFixed(4)}L${r.toFixed(4)},${d.toFixed(4)}`);
        }
      });
    const rank = effectiveRank(state.anchors);
    const numbers = {
      loss: found ? signed(found.value, 3) : "\u2013",
      alignment: signed(alignment(state.anchors, state.positives), 3),
      uniformity: signed(uniformity(state.anchors), 3),
      "effective rank": `${rank.toFixed(2)} of ${state.anchors[0].length}`,
      "strongest force": found ? most.toPrecision(2) : "\u2013",
    };
    tally.show(numbers);
    // A cosine rises where its two points are pushed towards each other.
    const rises = (/** @type {number[]} */ x, /** @type {number} */ i) =>
      found && inner(found.anchors[i], state.positives[i]) + inner(found.positives[i], x) > 0;
    const pulled = `${state.anchors.filter(rises).length} of ${state.anchors.length} pairs together`;
    title.textContent = !found ? "" : most < 0.005 ? `${state.loss} is at rest` : `${state.loss} pulls ${pulled}`;
    refused.textContent = why;
    const where = isCircle() ? "on a circle" : "on a sphere";
    if (halt) return; // a screen reader is told once it rests
    words.say(
      `${state.anchors.length} sentences ${where}, ${state.loss}: ` +
        Object.entries(numbers).map(([name, value]) => `${name} ${value}`).join(", ") + `. ${why}`,
    );
  };

  // ---- the hand ----------------------------------------------------------------------------------------------

  /** @param {PointerEvent} event */
  const placeOf = (event) => {
    const matrix = svg.getScreenCTM();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix?.inverse());
    return [at.x, -at.y];
  };
  /** @param {SVGElement} group @param {Kind} kind @param {number} i */
  const hold = (group, kind, i) => {
    group.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      group.focus();
      group.setPointerCapture(event.pointerId);
    });
    group.addEventListener("pointermove", (event) => {
      if (!group.hasPointerCapture(event.pointerId)) return;
      const [right, up] = placeOf(event);
      state[kind][i] = under(right, up);
      draw();
    });
    group.addEventListener("pointerup", () => tell());
    group.addEventListener("keydown", (event) => {
      const step = (event.shiftKey ? 15 : 3) * DEGREE;
      const [right, up] = arrowKey(event, step);
      if (!right && !up) return;
      event.preventDefault();
      const x = state[kind][i];
      if (isCircle()) {
        const angle = Math.atan2(x[1], x[0]) + right + up;
        state[kind][i] = [Math.cos(angle), Math.sin(angle)];
      } else {
        const [across, upwards] = camera();
        state[kind][i] = onSphere(x.map((one, c) => one + right * across[c] + up * upwards[c]));
      }
      draw();
      tell();
    });
  };
  /** @param {KeyboardEvent} event @param {number} step @returns {number[]} to the right, and up */
  const arrowKey = (event, step) =>
    ({ ArrowRight: [step, 0], ArrowLeft: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] })[event.key] ?? [0, 0];

  /** @param {number} yaw @param {number} pitch */
  const turnBy = (yaw, pitch) => {
    view = { yaw: view.yaw + yaw, pitch: Math.max(-1.5, Math.min(1.5, view.pitch + pitch)) };
    drawBack();
    draw();
  };
  globe.addEventListener("pointerdown", (event) => !isCircle() && globe.setPointerCapture(event.pointerId));
  globe.addEventListener("pointermove", (event) => {
    if (globe.hasPointerCapture(event.pointerId)) turnBy(-event.movementX / 150, event.movementY / 150);
  });
  globe.addEventListener("keydown", (event) => {
    const [right, up] = arrowKey(event, 0.1);
    if (!right && !up) return;
    event.preventDefault();
    turnBy(-right, -up);
  });

  // ---- the controls ------------------------------------------------------------------------------------------

  const stopped = () => {
    halt?.();
    halt = null;
    release.textContent = "let go";
  };
  /** Change the state; what is drawn and who listens follow. @param {() => void} change */
  const changed = (change) => {
    stopped();
    change();
    if (KINDS.some((kind) => marks[kind].length !== state[kind].length)) build();
    show();
    tell();
  };
  const loss = choice("loss", Object.keys(SPHERE_LOSSES), (value) => changed(() => (state.loss = value)));
  const shape = choice("surface", ["circle", "sphere"], (value) =>
    changed(() => {
      inDimensions(state, value === "circle" ? 2 : 3);
      drawBack();
    }),
  );
  const temperature = slider("temperature", SPHERE_TEMPERATURES, (value) => changed(() => (state.temperature = value)));
  const noise = slider("noise", SPHERE_NOISE, (value) => changed(() => (state.noise = value)));
  const batch = slider("batch", [2, 3, 4, 5, 6, 7, 8, 10, 12, 16], (value) =>
    changed(() => resize(state, value, state.negatives.length)),
  );
  const more = slider("further negatives", [0, 1, 2, 3, 4], (value) =>
    changed(() => resize(state, state.anchors.length, value)),
  );
  const from = choice("start from", Object.keys(STARTS), (value) =>
    changed(() => startAgain(state, (start = value), state.seed)),
  );
  const release = button("let go", () => {
    if (halt) {
      stopped();
      draw();
      return tell();
    }
    if (refusal(state)) return;
    const falling = descent(state);
    halt = playing(falling.step, draw, () => {
      stopped();
      draw();
      tell();
    }, 3000);
    release.textContent = "hold";
  });
  const again = button("start again", () =>
    changed(() => {
      state.seed = (state.seed + 1) % 1000;
      startAgain(state, start, state.seed);
    }),
  );
  const title = element("p", { class: "cselab-title" });
  const tally = counters();
  const words = spoken();
  const refused = element("p", { class: "cselab-refused", role: "status" });
  const says = element("p", { class: "cselab-says" });
  const legend = element("p", { class: "cselab-legend" });
  for (const kind of KINDS) {
    const shape = drawn("g", { class: `cselab-${kind}` }, drawn("path", { d: SHAPES[kind] }));
    const sign = drawn("svg", { viewBox: "-0.12 -0.12 0.24 0.24", "aria-hidden": "true" }, shape);
    legend.append(element("span", {}, sign, ` ${ONE_KIND[kind]}`));
  }
  legend.append(element("span", {}, "\u2192 force of the loss"));
  const which = element("p", { class: "cselab-small" },
    "Alignment, of anchors and positives, and uniformity, of the anchors: lower is better. All of it is computed in this page.");

  const show = () => {
    loss.set(state.loss);
    shape.set(isCircle() ? "circle" : "sphere");
    temperature.set(state.temperature);
    noise.set(state.noise);
    batch.set(state.anchors.length);
    more.set(state.negatives.length);
    from.set(start);
    const { says: text, takesNegatives } = SPHERE_LOSSES[state.loss];
    says.textContent = text + (state.negatives.length && !takesNegatives ? " It takes no further negatives." : "");
    draw();
  };

  const sliders = [temperature, noise, batch, more].map(({ box }) => box);
  const controls = element("div", { class: "cselab-hands" }, loss.box, shape.box, from.box, ...sliders,
    element("div", { class: "cselab-buttons" }, release, again));
  const picture = element("div", {}, title, svg, legend);
  const root = element("div", { class: "cselab-sphere", "data-lm-suppress-shortcuts": "true" }, picture,
    element("div", {}, says, controls, refused, tally.box, which, words.box));
  place.append(root);
  build();
  show();
  return {
    /** @param {SphereState} next */
    update(next) {
      if (JSON.stringify(next) === JSON.stringify(state)) return;
      stopped();
      state = structuredClone(next);
      build();
      show();
    },
    stop() {
      stopped();
      words.stop();
      root.remove();
    },
  };
}
