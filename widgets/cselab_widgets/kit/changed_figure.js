// A figure as the page opened it, with what a state changes: for panels whose figure is computed in the page.

/** A number to so many digits, as Python's `format(value, ".3g")` writes it. @param {number} value @param {number} digits */
export function general(value, digits) {
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  if (value === 0) return "0";
  if (Number(exponent) >= -4 && Number(exponent) < digits) return String(Number(value.toPrecision(digits)));
  return `${Number(mantissa)}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

/** The keys that objects within objects have together, those of the second preferred. @param {any} a @param {any} b @returns {any} */
function merged(a, b) {
  const plain = (/** @type {any} */ x) => x && typeof x === "object" && !Array.isArray(x) && !ArrayBuffer.isView(x);
  if (!plain(a) || !plain(b)) return b;
  return Object.fromEntries([...new Set([...Object.keys(a), ...Object.keys(b)])].map((key) => [key, key in b ? merged(a[key], b[key]) : a[key]]));
}

/**
 * The figure with other traces, named as in Python by their uid, and other titles and axes of its planes, by their number.
 * @param {{ data: any[], layout: any, config?: any }} figure
 * @param {Record<string, any>} traces
 * @param {Record<number, { title?: string, x?: any, y?: any }>} planes
 */
export function changed(figure, traces, planes) {
  const named = Object.fromEntries(
    Object.entries(traces).map(([uid, own]) => [uid.replace(/[^a-zA-Z0-9-]/g, (one) => `_${one.charCodeAt(0).toString(16)}_`), own]),
  );
  const layout = { ...figure.layout, annotations: [...figure.layout.annotations] };
  for (const [number, { title, x, y }] of Object.entries(planes)) {
    const own = Number(number) ? String(Number(number) + 1) : "";
    if (title !== undefined) layout.annotations[Number(number)] = { ...layout.annotations[Number(number)], text: title };
    if (x) layout[`xaxis${own}`] = merged(layout[`xaxis${own}`], x);
    if (y) layout[`yaxis${own}`] = merged(layout[`yaxis${own}`], y);
  }
  return { ...figure, layout, data: figure.data.map((trace) => merged(trace, named[trace.uid] ?? {})) };
}

/** @param {number} from @param {number} to @param {number} count */
export const evenly = (from, to, count) => Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1));

/** @param {number} count numbers from @param {number} [first] */
export const counting = (count, first = 1) => Array.from({ length: count }, (_, i) => first + i);

/** The axes of a matrix of so many rows, as `matrix` of planes.py has them. @param {number} rows */
export function matrixAxes(rows) {
  const dtick = [1, 2, 5, 10, 20, 50, 100].find((apart) => 6 * apart >= rows) ?? 200;
  return { x: { dtick }, y: { dtick } };
}
