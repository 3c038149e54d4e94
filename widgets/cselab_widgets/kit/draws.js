// Random numbers that a seed repeats, here and in draws.py.

/** Uniform numbers in (0, 1), the same for the same seed (mulberry32).
 * @param {number} seed @param {number} [skipped] how many of them are left out first */
export function uniforms(seed, skipped = 0) {
  let a = (seed + Math.imul(skipped, 0x6d2b79f5)) | 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
  };
}

/** So many standard normal numbers. @param {number} seed @param {number} count @param {number} [skipped] */
export function normals(seed, count, skipped = 0) {
  const next = uniforms(seed, 2 * skipped);
  return Array.from({ length: count }, () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next()));
}
