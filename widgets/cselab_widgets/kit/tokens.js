// From a text to tokens, as BERT's WordPiece makes them without capitals. The library `tokenizers` does it in this order.

/** @typedef {{ ids: number[], pieces: string[], unknown: string[], lost: number }} Tokens */

const BLANK = /\p{White_Space}/u;
const DROPPED = /[\0\ufffd]|(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}]/u;
const ACCENT = /\p{Mn}/u;
const SIGN = /[!-/:-@[-`{-~]|\p{P}/u;
const IDEOGRAPH = /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/u;
const LONGEST_WORD = 100; // characters; a longer one is unknown
const CHARACTERS = 100; // of a text so many a token of the longest input are read, as SentenceEncoder does

/** The words of a text: lower case, without accents, each sign a word of its own. @param {string} text */
export function wordsOf(text) {
  const kept = Array.from(text).filter((one) => !DROPPED.test(one));
  const apart = kept.map((one) => (BLANK.test(one) ? " " : IDEOGRAPH.test(one) ? ` ${one} ` : one)).join("");
  const plain = Array.from(apart.normalize("NFD")).filter((one) => !ACCENT.test(one));
  const small = plain.map((one) => one.toLowerCase()); // one by one: a whole word would end in another sigma
  const signs = Array.from(small.join(""), (one) => (SIGN.test(one) ? ` ${one} ` : one));
  return signs.join("").split(/\p{White_Space}+/u).filter(Boolean);
}

/** The longest pieces from the left that the vocabulary has; of a word that has none, the unknown token.
 * @param {string} word @param {Map<string, number>} vocabulary */
function piecesOf(word, vocabulary) {
  const letters = Array.from(word);
  if (letters.length > LONGEST_WORD) return ["[UNK]"];
  const pieces = [];
  for (let start = 0, end = letters.length; start < letters.length; end = letters.length) {
    const piece = () => (start ? "##" : "") + letters.slice(start, end).join("");
    while (end > start && !vocabulary.has(piece())) end--;
    if (end === start) return ["[UNK]"];
    pieces.push(piece());
    start = end;
  }
  return pieces;
}

/**
 * The tokens of a text, [CLS] and [SEP] among them, and what is not read of it: unknown words, tokens that are cut off.
 * @param {string} text
 * @param {Map<string, number>} vocabulary
 * @param {string[]} special tokens that a text may name, such as [MASK]
 * @param {number} longest in tokens
 * @returns {Tokens}
 */
export function tokensOf(text, vocabulary, special, longest) {
  const read = Array.from(text).slice(0, CHARACTERS * longest).join("");
  const named = new RegExp(`(${special.map((token) => token.replace(/[[\]]/g, "\\$&")).join("|")})`);
  const all = read.split(named).flatMap((part) => (special.includes(part) ? [part] : wordsOf(part)))
    .map((word) => ({ word, pieces: special.includes(word) ? [word] : piecesOf(word, vocabulary) }));
  const pieces = all.flatMap((one) => one.pieces);
  const kept = ["[CLS]", ...pieces.slice(0, longest - 2), "[SEP]"];
  return {
    ids: kept.map((piece) => vocabulary.get(piece) ?? 0),
    pieces: kept,
    unknown: all.filter((one) => one.pieces[0] === "[UNK]").map((one) => one.word),
    lost: Math.max(0, pieces.length - (longest - 2)),
  };
}
