// Arrays of numbers as numbers.py writes them: { shape, float32 } becomes { shape, values }.

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
  if (typeof value.float32 !== "string") return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, numbers(part)]));
  const bytes = Uint8Array.from(atob(value.float32), (letter) => letter.charCodeAt(0));
  return { shape: value.shape, values: new Float32Array(bytes.buffer) };
}
