// Random numbers that a seed repeats.

/** Uniform numbers in (0, 1), the same for the same seed (mulberry32). @param {number} seed */
export function uniforms(seed) {
  let a = seed | 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
  };
}

/** So many standard normal numbers. @param {number} seed @param {number} count */
export function normals(seed, count) {
  const next = uniforms(seed);
  return Array.from({ length: count }, () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next()));
}
