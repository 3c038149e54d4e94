// What came of a guess: the rules of lab/cselab_lab/lessons/guesses.py, where a text was typed; one test holds both.

const GUESS_CLOSE = 0.15; // a guess is close when it is off by less than this share of what was found
const GUESS_NOTHING = 0.1; // and a guess of 0 is close to anything smaller than this

const GUESS_CONSTANTS = { pi: Math.PI, e: Math.E };
const GUESS_FUNCTIONS = { log: Math.log, ln: Math.log, log2: Math.log2, log10: Math.log10, sqrt: Math.sqrt, exp: Math.exp };
const GUESS_TOKENS =
  /\s*((?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?|\*\*|[-+*\/()]|[A-Za-z_]\w*)/y;

/**
 * The number that a text says: "0.5", "50%", "1/3", "log 64", "sqrt(2) * pi"; throws where it says none.
 * @param {string} text
 */
function guessedNumber(text) {
  const share = text.trim().endsWith("%");
  const bare = text.trim().replace(/%$/, "").replace(/#.*/, "").trim();
  const plain = bare.toLowerCase().replace(/\b(?:math|numpy|np|torch)\.(?=[a-z])/g, "");
  const written = plain.replace(/\b([a-z]+\d*)\s+(\d[\d.]*)/g, "$1($2)").replaceAll("^", "**");
  const ends = /^(\d[\d.]*)\s*-\s*(\d[\d.]*)$/.exec(written);
  if (ends && Number(ends[1]) < Number(ends[2])) throw new Error("a range");
  const tokens = [];
  GUESS_TOKENS.lastIndex = 0;
  for (let at = 0; at < written.length; at = GUESS_TOKENS.lastIndex) {
    const found = GUESS_TOKENS.exec(written);
    if (!found) throw new Error("no arithmetic");
    tokens.push(found[1]);
  }
  let next = 0;
  const takes = (...signs) => (signs.includes(tokens[next]) ? tokens[next++] : undefined);
  const must = (sign) => {
    if (!takes(sign)) throw new Error(`${sign} is missing`);
  };
  /** A value that a function or a division has: not the infinity or NaN that it makes of numbers. */
  const having = (value, ...given) => {
    if (Number.isNaN(value) && !given.some(Number.isNaN)) throw new Error("no value");
    if (!Number.isFinite(value) && given.every(Number.isFinite)) throw new Error("no value");
    return value;
  };

  const sum = () => {
    let value = product();
    for (let sign = takes("+", "-"); sign; sign = takes("+", "-")) value += sign === "+" ? product() : -product();
    return value;
  };
  const product = () => {
    let value = signed();
    for (let sign = takes("*", "/"); sign; sign = takes("*", "/")) {
      const other = signed();
      if (sign === "/" && other === 0) throw new Error("division by 0");
      value = sign === "*" ? value * other : value / other;
    }
    return value;
  };
  const signed = () => {
    const sign = takes("+", "-");
    return sign ? (sign === "-" ? -1 : 1) * signed() : power();
  };
  const power = () => {
    const base = atom();
    if (!takes("**")) return base;
    const exponent = signed();
    return having(base ** exponent, base, exponent);
  };
  const atom = () => {
    if (takes("(")) {
      const value = sum();
      must(")");
      return value;
    }
    const token = tokens[next++] ?? "";
    if (/^0[\d_]*[1-9][\d_]*$/.test(token)) throw new Error("Python takes no 007");
    if (/^[\d.]/.test(token)) return Number(token.replaceAll("_", ""));
    if (tokens[next] !== "(" && Object.hasOwn(GUESS_CONSTANTS, token)) return GUESS_CONSTANTS[token];
    if (!Object.hasOwn(GUESS_FUNCTIONS, token)) throw new Error("an unknown name");
    must("(");
    const inside = sum();
    must(")");
    return having(GUESS_FUNCTIONS[token](inside), inside);
  };

  const value = sum();
  if (next < tokens.length) throw new Error("more than one number");
  return share ? value / 100 : value;
}

/** To so many significant digits, halves to the even one, as Python rounds. @param {number} value @param {number} digits */
function guessRounded(value, digits) {
  const half = RegExp(`^(-?\\d\\.\\d{${digits - 2}}(\\d))50*e(.+)$`);
  const [, kept, last, exponent] = half.exec(value.toExponential(60)) ?? [];
  return kept && Number(last) % 2 === 0 ? Number(`${kept}e${exponent}`) : Number(value.toPrecision(digits));
}

/** A word without what nobody means by it: capitals, hyphens, spaces. @param {unknown} text */
const guessLetters = (text) => String(text).toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/**
 * @param {string | number} mine
 * @param {string | number | boolean | (string | number)[]} found
 */
function guessVerdict(mine, found) {
  if (typeof found === "string") return guessLetters(mine) === guessLetters(found) ? "right" : "not so";
  if (Array.isArray(found)) {
    const names = String(mine).split(",").map(guessLetters);
    return names.join() === found.map(guessLetters).join() ? "right" : "not so";
  }
  if (typeof mine !== "number" || typeof found !== "number") return "not so";
  if (guessRounded(mine, 3) === guessRounded(found, 3)) return "right";
  const near = Math.abs(mine - found) <= GUESS_CLOSE * Math.max(Math.abs(found), Math.abs(mine));
  if (near || (mine === 0 && Math.abs(found) < GUESS_NOTHING)) return "close";
  if (found >= 0 && found <= 1 && mine >= 10 && mine <= 100) {
    const [percent, part] = [mine, mine / 100].map((value) => guessRounded(value, 6));
    return `you said too much; if you meant ${percent} %, write ${part}`;
  }
  if (mine * found < 0) return "the other sign";
  return mine > found ? "you said too much" : "you said too little";
}

/**
 * A line about a guess, and its verdict: empty as long as there is no guess.
 * @param {string} text what was typed
 * @param {{ name: string, value: string | number | boolean | (string | number)[], words: string }} found
 * @returns {{ line: string, verdict: string }}
 */
function comparedGuess(text, { name: written, value, words }) {
  const name = written.replaceAll("_", " ");
  if (!text.trim()) return { line: `${name}: no guess yet; write one above to see the answer, or "show"`, verdict: "" };
  if (guessLetters(text) === "show") return { line: `${name}: it is ${words}`, verdict: "shown" };
  let mine = /** @type {string | number} */ (text);
  if (typeof value === "number") {
    try {
      mine = guessedNumber(text);
    } catch {
      const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
      const short = text.length > 40 ? `${text.slice(0, 40)} ...` : text;
      const shown = quote + short.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`) + quote;
      return { line: `${name}: ${shown} is no number; write 0.5, "50%", "1/3", "log 64" or "sqrt(2)"`, verdict: "" };
    }
    if (Number.isNaN(mine))
      return { line: `${name}: you said NaN, which is what 0 / 0 gives and no number; write one to see the answer`, verdict: "" };
    if (!Number.isFinite(mine))
      return { line: `${name}: you said ${text}, which is too large to compare; write a number to see the answer`, verdict: "" };
  }
  const verdict = guessVerdict(mine, value);
  return { line: `${name}: you said ${text}, it is ${words}: ${verdict}`, verdict };
}
