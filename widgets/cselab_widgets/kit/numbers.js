// Arrays of numbers as numbers.py writes them: { shape, float32 } or { shape, int16, unit } becomes { shape, values }.

/** @type {WeakMap<object, any>} what has been read is read once */
const known = new WeakMap();

/** @param {any} value @returns {any} */
export function numbers(value) {
  if (!value || typeof value !== "object") return value;
  if (!known.has(value)) known.set(value, read(value));
  return known.get(value);
}

/** @param {any} value */
function read(value) {
  if (Array.isArray(value)) return value.map(numbers);
  if (typeof (value.float32 ?? value.int16) !== "string") return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, numbers(part)]));
  const { shape, float32, int16, unit } = value;
  const { buffer } = Uint8Array.from(atob(float32 ?? int16), (letter) => letter.charCodeAt(0));
  return { shape, values: float32 ? new Float32Array(buffer) : Float32Array.from(new Int16Array(buffer), (whole) => whole * unit) };
}
