// Arrays of numbers as numbers.py writes them: { shape, float32 } becomes { shape, values }.

/** @param {any} value @returns {any} */
export function numbers(value) {
  if (Array.isArray(value)) return value.map(numbers);
  if (!value || typeof value !== "object") return value;
  if (typeof value.float32 !== "string") return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, numbers(part)]));
  const bytes = Uint8Array.from(atob(value.float32), (letter) => letter.charCodeAt(0));
  return { shape: value.shape, values: new Float32Array(bytes.buffer) };
}
