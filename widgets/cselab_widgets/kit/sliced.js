// Work that takes longer than a hand should wait: done a little at a time, while the page goes on answering.

const SLICE = 12; // milliseconds
const KEPT = 64; // results

/** @type {Map<string, { steps: Iterator<any>, found?: any }>} */
const works = new Map();

/**
 * What `work` returns, once it has run to its end; undefined until then. It stops wherever it yields.
 * @param {string} key what the result is of: it is computed once; other work of the same kind (up to ":") is given up
 * @param {() => Generator<any, any, any>} work
 * @param {() => void} [again] called when the result is there; without it the work is done at once
 */
export function sliced(key, work, again) {
  const kind = key.split(":")[0];
  for (const [other, { found }] of works) if (other !== key && !found && other.split(":")[0] === kind) works.delete(other);
  const known = works.get(key);
  if (known?.found) return known.found;
  const own = known ?? { steps: work() };
  works.set(key, own);
  if (works.size > KEPT) works.delete([...works.keys()][0]);
  const go = (/** @type {number} */ until) => {
    for (let one = own.steps.next(); ; one = own.steps.next()) {
      if (one.done) return (own.found = one.value);
      if (performance.now() > until) return undefined;
    }
  };
  if (!again) return go(Infinity);
  if (!known) {
    const later = () => {
      if (works.get(key) !== own) return; // given up
      if (go(performance.now() + SLICE)) again();
      else setTimeout(later);
    };
    setTimeout(later);
  }
  return undefined;
}
