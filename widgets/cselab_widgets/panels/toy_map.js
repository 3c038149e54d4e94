// The map of the toy: topics on the rim, a dot for each sentence, the reader's own with a number and their cosines. It
// paints on a canvas, of the page or of the saved picture.
import { inner } from "../kit/geometry.js";

/**
 * @typedef {{ x: number, y: number, topic: number }} Dot
 * @typedef {{ x: number, y: number, name: string, label: string, trail: number[][] }} OwnDot
 * @typedef {{ topics: string[], angles: number[], dots: Dot[], own: OwnDot[], ties: { ends: [number, number], words: string, strong: boolean }[],
 *   looked: number }} Picture
 * @typedef {{ ink: string, paper: string, palette: string[] }} Colours
 */

const FONT = "system-ui, sans-serif";

/** Where a place of the map lies on the canvas. @param {number} size of the square canvas */
export function placesOf(size) {
  const radius = size / 2 - Math.max(20, size * 0.048);
  return {
    radius,
    /** @param {{ x: number, y: number }} place @returns {[number, number]} */
    at: ({ x, y }) => [size / 2 + radius * x, size / 2 - radius * y],
  };
}

/**
 * Text along the rim, with its middle at an angle; below the centre it runs the other way, so that no letter hangs upside down.
 * @param {CanvasRenderingContext2D} pen @param {string} text @param {number} middle @param {number} radius
 */
function along(pen, text, middle, radius) {
  const widths = Array.from(text, (letter) => pen.measureText(letter).width + 0.6);
  const below = Math.sin(middle) < -0.1;
  const away = below ? radius + 15 : radius + 6;
  let turn = (below ? 1 : -1) * (widths.reduce((sum, one) => sum + one, 0) / 2 / away);
  Array.from(text).forEach((letter, k) => {
    const half = ((below ? -1 : 1) * widths[k]) / 2 / away;
    turn += half;
    pen.save();
    pen.rotate(-middle + turn + (below ? -Math.PI / 2 : Math.PI / 2));
    pen.fillText(letter, 0, below ? away : -away);
    pen.restore();
    turn += half;
  });
}

/** Text that stays legible over dots. @param {CanvasRenderingContext2D} pen
 * @param {string} text @param {number} x @param {number} y @param {Colours} colours */
function over(pen, text, x, y, { ink, paper }) {
  pen.lineWidth = 4;
  pen.lineJoin = "round";
  pen.strokeStyle = paper;
  pen.strokeText(text, x, y);
  pen.fillStyle = ink;
  pen.fillText(text, x, y);
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} radius */
function disc(pen, x, y, radius) {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number} size of the square, from the pen's origin
 * @param {Picture} picture
 * @param {Colours} colours
 */
export function paint(pen, size, { topics, angles, dots, own, ties, looked }, colours) {
  const { ink, palette } = colours;
  const { radius, at } = placesOf(size);
  const unit = Math.max(0.8, size / 560);
  pen.clearRect(0, 0, size, size);
  pen.save();
  pen.translate(size / 2, size / 2);
  pen.strokeStyle = ink;
  pen.globalAlpha = 0.22;
  pen.lineWidth = 1;
  disc(pen, 0, 0, radius);
  pen.stroke();
  pen.globalAlpha = 1;
  pen.font = `600 ${Math.max(12, 13 * unit)}px ${FONT}`;
  pen.textAlign = "center";
  topics.forEach((topic, k) => {
    pen.fillStyle = palette[k];
    along(pen, topic, angles[k], radius);
  });
  pen.restore();
  pen.globalAlpha = 0.85;
  dots.forEach((dot, i) => {
    const [x, y] = at(dot);
    pen.fillStyle = palette[dot.topic];
    disc(pen, x, y, (i === looked ? 6.5 : 3.6) * unit);
    pen.fill();
  });
  pen.strokeStyle = ink;
  for (const { trail } of own) {
    pen.globalAlpha = 0.3;
    pen.lineWidth = 1.5 * unit;
    pen.beginPath();
    for (const [x, y] of trail) pen.lineTo(...at({ x, y }));
    pen.stroke();
  }
  pen.globalAlpha = 1;
  const places = own.map(at);
  for (const { ends, strong } of ties) {
    pen.globalAlpha = strong ? 1 : 0.45;
    pen.lineWidth = (strong ? 2.5 : 1.2) * unit;
    pen.beginPath();
    for (const end of ends) pen.lineTo(places[end][0], places[end][1]);
    pen.stroke();
  }
  pen.globalAlpha = 1;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.font = `${Math.max(11, 12 * unit)}px ${FONT}`;
  /** @type {number[][]} */
  const written = [];
  for (const { ends, words } of ties) {
    const [a, b] = ends.map((end) => places[end]);
    if (Math.hypot(a[0] - b[0], a[1] - b[1]) < 80 * unit) continue;
    const spots = [0.5, 0.38, 0.62, 0.28, 0.72].map((share) => a.map((one, axis) => one + share * (b[axis] - one)));
    const free = spots.find(([x, y]) => written.every(([p, q]) => Math.abs(p - x) > 36 * unit || Math.abs(q - y) > 15 * unit)) ?? spots[0];
    written.push(free);
    over(pen, words, free[0], free[1], colours);
  }
  /** @type {number[][]} */
  const labels = [];
  own.forEach(({ name, label }, i) => {
    const [x, y] = places[i];
    const here = places.flatMap(([a, b], k) => (Math.hypot(a - x, b - y) < 14 * unit ? [k] : [])); // these go side by side
    const way = (x > size * 0.72 ? -1 : 1) * unit;
    const shown = x + here.indexOf(i) * 25 * way;
    const beyond = x + (here.length - 1) * 25 * way + 16 * way;
    for (const [radiusOf, colour] of /** @type {[number, string][]} */ ([[12.5, colours.paper], [11, ink]])) {
      pen.fillStyle = colour;
      disc(pen, shown, y, radiusOf * unit);
      pen.fill();
    }
    pen.fillStyle = colours.paper;
    pen.textAlign = "center";
    pen.font = `700 ${13 * unit}px ${FONT}`;
    pen.fillText(name, shown, y + 0.5);
    pen.font = `600 ${Math.max(13, 14 * unit)}px ${FONT}`;
    const free = (at) => labels.every(([across, other]) => Math.abs(across - beyond) >= 90 * unit || Math.abs(other - at) >= 17 * unit);
    const up = [0, -18, 18, -36, 36].map((off) => y + off * unit).find(free) ?? y; // above or below, the nearest that is free
    labels.push([beyond, up]);
    pen.textAlign = way < 0 ? "right" : "left";
    over(pen, here.length > 1 || up !== y ? `${name} ${label}` : label, beyond, up, colours);
  });
  pen.textBaseline = "alphabetic";
}

/** The dot nearest to a place of the canvas, or -1 where none is near. @param {Dot[]} dots @param {number} size
 * @param {number} x @param {number} y */
export function nearestDot(dots, size, x, y) {
  const { at } = placesOf(size);
  const far = dots.map((dot) => Math.hypot(at(dot)[0] - x, at(dot)[1] - y));
  const least = Math.min(...far);
  return least < 14 ? far.indexOf(least) : -1;
}

/** @param {number[][]} plane [d, 2] @param {number[]} vector */
export const seenIn = (plane, vector) => {
  const [x, y] = [0, 1].map((axis) => inner(vector, plane.map((row) => row[axis])));
  return { x, y };
};

const [WIDE, EDGE] = [1280, 40];
const LARGE = 1.8; // so that its text can be read on a telephone

/**
 * Before and after as one picture, with the result in words.
 * @param {Picture[]} pictures before and after
 * @param {string[]} titles
 * @param {string} result
 * @param {string[]} sentences
 * @param {Colours} colours
 * @returns {HTMLCanvasElement}
 */
export function beforeAndAfter(pictures, titles, result, sentences, colours) {
  const canvas = document.createElement("canvas");
  const half = (WIDE - 3 * EDGE) / 2;
  const below = 170 + half;
  [canvas.width, canvas.height] = [WIDE, below + 100 + 44 * Math.ceil(sentences.length / 2)];
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.fillStyle = colours.paper;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = colours.ink;
  pen.font = `700 46px ${FONT}`;
  pen.fillText("An encoder learns sentences", EDGE, 66);
  pictures.forEach((picture, k) => {
    const left = EDGE + k * (half + EDGE);
    pen.font = `600 30px ${FONT}`;
    pen.fillStyle = colours.ink;
    pen.fillText(titles[k], left, 126);
    const one = document.createElement("canvas");
    one.width = one.height = half;
    const drawn = /** @type {CanvasRenderingContext2D} */ (one.getContext("2d"));
    drawn.scale(LARGE, LARGE);
    paint(drawn, half / LARGE, picture, colours);
    pen.drawImage(one, left, 146);
  });
  pen.font = `600 36px ${FONT}`;
  pen.fillText(result, EDGE, below + 34, WIDE - 2 * EDGE);
  pen.font = `29px ${FONT}`;
  sentences.forEach((text, i) => {
    pen.fillText(text, EDGE + (i % 2) * (half + EDGE), below + 84 + 44 * Math.floor(i / 2), half);
  });
  pen.textAlign = "right";
  pen.globalAlpha = 0.7;
  pen.fillText("cselab", WIDE - EDGE, 66);
  return canvas;
}
