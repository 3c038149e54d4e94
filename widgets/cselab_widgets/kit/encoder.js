// BERT in the page: weights as carried_encoder.py writes them, layers, pooling. `readEncoders`, then `encodeTexts`.
import { tokensOf } from "./tokens.js";

/**
 * @typedef {import("./tokens.js").Tokens} Tokens
 * @typedef {string | DataView} Bytes base64 in a page, bytes in a notebook
 * @typedef {{ name: string, base: number, scales: number[], change: Bytes, vocabulary: string, special: string[],
 *   prompt: string, longest: number, trained: number | null, layers: number, heads: number, eps: number,
 *   pooling: { layers: number[], counts: string, pooler: boolean }, activations: string[], normalize: boolean,
 *   dimensions: number }} CarriedEncoder
 * @typedef {{ bases: { shapes: [string, number, number][], halves: Bytes }[], encoders: CarriedEncoder[] }} Carried
 * @typedef {{ rows: number, columns: number, values: Float32Array }} Table
 * @typedef {Omit<CarriedEncoder, "vocabulary" | "change"> & { vocabulary: Map<string, number>,
 *   tables: Map<string, Table> }} Encoder
 * @typedef {Tokens & { vector: Float32Array }} Encoded
 */

/** The page draws what was said before the work goes on. */
const breath = () => new Promise((resolve) => setTimeout(resolve));

/** @param {string} base64 */
function decoded(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** Numbers of 16 bits: unpacked, the lower bytes of all stand before the upper ones. @param {Bytes} given */
async function numbersOf(given) {
  const packed = typeof given === "string" ? decoded(given) : given;
  const stream = new Blob([/** @type {BlobPart} */ (packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const count = bytes.length / 2;
  const numbers = new Uint16Array(count);
  for (let at = 0; at < count; at++) numbers[at] = bytes[at] | (bytes[count + at] << 8);
  return numbers;
}

/** Each number in half precision, by its bits. */
function halves() {
  return Float32Array.from({ length: 65536 }, (_, bits) => {
    const [sign, power, rest] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
    if (power === 31) return rest ? NaN : sign * Infinity;
    return sign * (power ? (1 + rest / 1024) * 2 ** (power - 15) : rest * 2 ** -24);
  });
}

/**
 * The encoders that a page carries, ready to compute.
 * @param {Carried} carried
 * @param {(words: string) => void} [says] what is being done
 * @returns {Promise<Encoder[]>}
 */
export async function readEncoders({ bases, encoders }, says = () => {}) {
  const half = halves();
  /** @type {Map<string, Table>[]} */
  const read = [];
  for (const { shapes, halves: given } of bases) {
    says("Unpacking the weights \u2026");
    await breath();
    const bits = await numbersOf(given);
    /** @type {Map<string, Table>} */
    const tables = new Map();
    let at = 0;
    for (const [name, rows, columns] of shapes) {
      says(`Reading the weights: ${((2 * at) / 1e6).toFixed(1)} of ${((2 * bits.length) / 1e6).toFixed(1)} MB \u2026`);
      await breath();
      const values = new Float32Array(rows * columns);
      for (let i = 0; i < values.length; i++) values[i] = half[bits[at++]];
      tables.set(name, { rows, columns, values });
    }
    read.push(tables);
  }
  const ready = [];
  for (const { change, vocabulary, ...rest } of encoders) {
    says(`Reading ${rest.name} \u2026`);
    await breath();
    const tables = await changed(read[rest.base], rest.scales, change);
    ready.push({ ...rest, tables, vocabulary: new Map(vocabulary.split("\n").map((token, id) => [token, id])) });
  }
  return ready;
}

/** Tables with so many steps of a scale added. @param {Map<string, Table>} base @param {number[]} scales @param {Bytes} given */
async function changed(base, scales, given) {
  if (!scales.length) return base;
  const steps = new Int16Array((await numbersOf(given)).buffer);
  let at = 0;
  return new Map([...base].map(([name, table], number) => {
    const values = table.values.map((value) => value + scales[number] * steps[at++]);
    return [name, { ...table, values }];
  }));
}

/** erf to 1e-7 (Abramowitz and Stegun 7.1.26). @param {number} x */
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const tail = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return Math.sign(x) * (1 - tail * Math.exp(-x * x));
}

/** @type {Record<string, (x: number) => number>} */
const ACTIVATIONS = {
  GELU: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  Tanh: Math.tanh,
  ReLU: (x) => Math.max(0, x),
  Sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  Identity: (x) => x,
};

/** @param {Encoder} encoder @param {string} name */
function tableOf({ tables }, name) {
  const found = tables.get(name);
  if (!found) throw new Error(`the encoder has no ${name}`);
  return found;
}

/** x W^T + b for rows in fours, so that a weight is fetched once for four. @param {Encoder} encoder @param {string} name
 * @param {Float32Array} x */
function linear(encoder, name, x) {
  const { rows: out, columns: d, values: w } = tableOf(encoder, `${name}.weight`);
  const bias = tableOf(encoder, `${name}.bias`).values;
  const rows = x.length / d;
  const y = new Float32Array(rows * out);
  for (let i = 0; i < rows; i += 4) {
    const [p, q, r, s] = [i * d, (i + 1) * d, (i + 2) * d, (i + 3) * d];
    for (let o = 0; o < out; o++) {
      let [a, b, c, e] = [bias[o], bias[o], bias[o], bias[o]];
      for (let l = 0, at = o * d; l < d; l++, at++) {
        const weight = w[at];
        a += weight * x[p + l];
        b += weight * x[q + l];
        c += weight * x[r + l];
        e += weight * x[s + l];
      }
      y[i * out + o] = a;
      y[(i + 1) * out + o] = b;
      y[(i + 2) * out + o] = c;
      y[(i + 3) * out + o] = e;
    }
  }
  return y;
}

/** Each row of x + y with the mean 0 and the variance 1, scaled and shifted. @param {Encoder} encoder @param {string} name
 * @param {Float32Array} x @param {Float32Array} [y] */
function layerNorm(encoder, name, x, y) {
  const [scale, shift] = ["weight", "bias"].map((part) => tableOf(encoder, `${name}.${part}`).values);
  const d = scale.length;
  const sum = y ? x.map((one, at) => one + y[at]) : x;
  const normed = new Float32Array(sum.length);
  for (let start = 0; start < sum.length; start += d) {
    const row = sum.subarray(start, start + d);
    const mean = row.reduce((all, one) => all + one, 0) / d;
    const spread = Math.sqrt(row.reduce((all, one) => all + (one - mean) ** 2, 0) / d + encoder.eps);
    for (let c = 0; c < d; c++) normed[start + c] = ((row[c] - mean) / spread) * scale[c] + shift[c];
  }
  return normed;
}

/** Each of `count` tokens looks at all of them. @param {Encoder} encoder @param {string} name @param {Float32Array} x
 * @param {number} count */
function attention(encoder, name, x, count) {
  const [query, key, value] = ["query", "key", "value"].map((part) => linear(encoder, `${name}.${part}`, x));
  const d = tableOf(encoder, `${name}.query.bias`).columns;
  const width = d / encoder.heads;
  const seen = new Float32Array(x.length);
  for (let start = 0; start < d; start += width)
    for (let i = 0; i < count; i++) {
      const shares = new Float64Array(count);
      for (let j = 0; j < count; j++) {
        let inside = 0;
        for (let c = start; c < start + width; c++) inside += query[i * d + c] * key[j * d + c];
        shares[j] = inside / Math.sqrt(width);
      }
      const most = Math.max(...shares);
      let sum = 0;
      for (let j = 0; j < count; j++) sum += shares[j] = Math.exp(shares[j] - most);
      for (let j = 0; j < count; j++)
        for (let c = start; c < start + width; c++) seen[i * d + c] += (shares[j] / sum) * value[j * d + c];
    }
  return seen;
}

/** The static embeddings, then the output of each layer: rows for the tokens, and empty ones up to a multiple of four.
 * @param {Encoder} encoder @param {number[]} ids */
function hiddenStates(encoder, ids) {
  const [words, places, types] = ["word", "position", "token_type"].map(
    (kind) => tableOf(encoder, `embeddings.${kind}_embeddings.weight`));
  const d = words.columns;
  const sum = new Float32Array(Math.ceil(ids.length / 4) * 4 * d);
  ids.forEach((id, i) => {
    for (let c = 0; c < d; c++) sum[i * d + c] = words.values[id * d + c] + places.values[i * d + c] + types.values[c];
  });
  const states = [layerNorm(encoder, "embeddings.LayerNorm", sum)];
  for (let layer = 0; layer < encoder.layers; layer++) {
    const name = `encoder.layer.${layer}`;
    const x = states[layer];
    const seen = linear(encoder, `${name}.attention.output.dense`, attention(encoder, `${name}.attention.self`, x, ids.length));
    const between = layerNorm(encoder, `${name}.attention.output.LayerNorm`, x, seen);
    const wide = linear(encoder, `${name}.intermediate.dense`, between).map(ACTIVATIONS.GELU);
    states.push(layerNorm(encoder, `${name}.output.LayerNorm`, between, linear(encoder, `${name}.output.dense`, wide)));
  }
  return states;
}

/** A single row through a linear layer. @param {Encoder} encoder @param {string} name @param {Float32Array} x */
function linearOfOne(encoder, name, x) {
  const four = new Float32Array(4 * x.length);
  four.set(x);
  const y = linear(encoder, name, four);
  return y.slice(0, y.length / 4);
}

/** @param {Encoder} encoder @param {number[]} ids @returns {Float32Array} */
function vectorOf(encoder, ids) {
  const { layers, counts, pooler } = encoder.pooling;
  const states = hiddenStates(encoder, ids);
  const d = tableOf(encoder, "embeddings.LayerNorm.weight").columns;
  const rows = counts === "first" ? [0] : counts === "last" ? [ids.length - 1] : ids.map((_, i) => i);
  const pooled = Float32Array.from({ length: d }, (_, c) => {
    let sum = 0;
    for (const layer of layers) for (const i of rows) sum += /** @type {Float32Array} */ (states.at(layer))[i * d + c];
    return sum / (rows.length * layers.length);
  });
  let vector = pooler ? linearOfOne(encoder, "pooler.dense", pooled).map(Math.tanh) : pooled;
  encoder.activations.forEach((name, number) => {
    vector = linearOfOne(encoder, `head.${number}`, vector).map(ACTIVATIONS[name]);
  });
  const length = encoder.normalize ? Math.hypot(...vector) : 1;
  return vector.map((one) => one / length).slice(0, encoder.dimensions);
}

/**
 * The vector of each text, as `SentenceEncoder.encode` gives it, and what was read of the text.
 * @param {Encoder} encoder
 * @param {string[]} texts
 * @returns {Encoded[]}
 */
export const encodeTexts = (encoder, texts) =>
  texts.map((text) => {
    const tokens = tokensOf(encoder.prompt + text, encoder.vocabulary, encoder.special, encoder.longest);
    return { ...tokens, vector: vectorOf(encoder, tokens.ids) };
  });
