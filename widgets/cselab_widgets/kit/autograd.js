// Matrices that remember how they were computed, so that the gradient of a number by any of them can be taken.
//
// A formula is written once, as in cselab.losses; `gradients` follows it backwards. Arithmetic is in double precision.

let made = 0;

export class Matrix {
  /**
   * @param {number} rows
   * @param {number} columns
   * @param {Float64Array} values row by row
   * @param {Matrix[]} parents what it was computed from
   * @param {() => void} pass adds this matrix's `gradient`, times the derivative, to that of each parent
   */
  constructor(rows, columns, values, parents = [], pass = () => {}) {
    this.rows = rows;
    this.columns = columns;
    this.values = values;
    this.parents = parents;
    this.pass = pass;
    this.gradient = new Float64Array(0);
    this.number = made++;
  }

  /** @param {ArrayLike<number>[]} rows */
  static of(rows) {
    return new Matrix(rows.length, rows[0].length, Float64Array.from(rows.flatMap((row) => Array.from(row))));
  }

  /** The only entry. */
  get value() {
    return this.values[0];
  }

  toRows() {
    const { rows, columns, values } = this;
    return Array.from({ length: rows }, (_, i) => Array.from(values.subarray(i * columns, (i + 1) * columns)));
  }

  /** @param {Matrix | number} other */
  plus(other) {
    return pairwise(this, other, (x, y) => x + y, () => 1, () => 1);
  }

  /** @param {Matrix | number} other */
  minus(other) {
    return pairwise(this, other, (x, y) => x - y, () => 1, () => -1);
  }

  /** @param {Matrix | number} other entry by entry */
  times(other) {
    return pairwise(this, other, (x, y) => x * y, (_, y) => y, (x) => x);
  }

  /** @param {Matrix | number} other entry by entry */
  over(other) {
    return pairwise(this, other, (x, y) => x / y, (_, y) => 1 / y, (x, y) => -x / (y * y));
  }

  square() {
    return this.times(this);
  }

  sqrt() {
    return each(this, Math.sqrt, (x) => 0.5 / Math.sqrt(x));
  }

  get T() {
    const { rows, columns } = this;
    return picked(this, columns, rows, (i, j) => j * columns + i);
  }

  diagonal() {
    return picked(this, Math.min(this.rows, this.columns), 1, (i) => i * this.columns + i);
  }

  /** @param {number[]} order which rows, in which order; one may come several times */
  rowsAt(order) {
    return picked(this, order.length, this.columns, (i, j) => order[i] * this.columns + j);
  }

  /** @param {Matrix} column what stands on the diagonal instead */
  withDiagonal(column) {
    const kept = this.values.map((_, at) => (at % this.columns === Math.floor(at / this.columns) ? 0 : 1));
    const [mask, own] = [kept, kept.map((one) => 1 - one)].map((all) => new Matrix(this.rows, this.columns, all));
    return this.times(mask).plus(own.times(column));
  }

  /** @param {Matrix} below further rows */
  above(below) {
    const values = Float64Array.of(...this.values, ...below.values);
    const result = new Matrix(this.rows + below.rows, this.columns, values, [this, below], () => {
      result.gradient.forEach((g, at) => {
        if (at < this.values.length) this.gradient[at] += g;
        else below.gradient[at - this.values.length] += g;
      });
    });
    return result;
  }

  /** The product of two matrices. @param {Matrix} other */
  dot(other) {
    const [n, k, m] = [this.rows, this.columns, other.columns];
    const values = new Float64Array(n * m);
    for (let i = 0; i < n; i++)
      for (let l = 0; l < k; l++)
        for (let j = 0; j < m; j++) values[i * m + j] += this.values[i * k + l] * other.values[l * m + j];
    const result = new Matrix(n, m, values, [this, other], () => {
      for (let i = 0; i < n; i++)
        for (let l = 0; l < k; l++)
          for (let j = 0; j < m; j++) {
            this.gradient[i * k + l] += result.gradient[i * m + j] * other.values[l * m + j];
            other.gradient[l * m + j] += result.gradient[i * m + j] * this.values[i * k + l];
          }
    });
    return result;
  }

  /** Of each row: [n, 1]. */
  sumRows() {
    return this.dot(filled(this.columns, 1, 1));
  }

  /** Of each column: [1, d]. */
  sumColumns() {
    return filled(1, this.rows, 1).dot(this);
  }

  sum() {
    return this.sumRows().sumColumns();
  }

  mean() {
    return this.sum().over(this.values.length);
  }

  meanColumns() {
    return this.sumColumns().over(this.rows);
  }

  /** log sum_j exp(x_ij) of each row, safe from overflow: [n, 1]. */
  logSumExp() {
    const { rows, columns } = this;
    const largest = Float64Array.from(this.toRows(), (row) => Math.max(...row));
    const shares = this.values.map((x, at) => Math.exp(x - largest[Math.floor(at / columns)]));
    const sums = new Float64Array(rows);
    shares.forEach((share, at) => (sums[Math.floor(at / columns)] += share));
    const values = sums.map((sum, i) => Math.log(sum) + largest[i]);
    const result = new Matrix(rows, 1, values, [this], () => {
      shares.forEach((share, at) => {
        const i = Math.floor(at / columns);
        this.gradient[at] += (result.gradient[i] * share) / sums[i];
      });
    });
    return result;
  }
}

/** @param {number} rows @param {number} columns @param {number} value */
export const filled = (rows, columns, value) =>
  new Matrix(rows, columns, new Float64Array(rows * columns).fill(value));

/**
 * The gradients of a number by some of the matrices that it was computed from.
 * @param {Matrix} number [1, 1]
 * @param {Matrix[]} inputs
 */
export function gradients(number, inputs) {
  const found = new Set();
  const open = [number];
  for (let one = open.pop(); one; one = open.pop()) {
    if (found.has(one)) continue;
    found.add(one);
    open.push(...one.parents);
  }
  for (const one of [...found, ...inputs]) one.gradient = new Float64Array(one.values.length);
  number.gradient[0] = 1;
  for (const one of [...found].sort((a, b) => b.number - a.number)) one.pass();
  return inputs.map((one) => new Matrix(one.rows, one.columns, one.gradient));
}

/**
 * Entry by entry; a row, a column or a number stands for as many as the other has.
 * @param {Matrix} a
 * @param {Matrix | number} second
 * @param {(x: number, y: number) => number} f
 * @param {(x: number, y: number) => number} byFirst its derivatives
 * @param {(x: number, y: number) => number} bySecond
 */
function pairwise(a, second, f, byFirst, bySecond) {
  const b = typeof second === "number" ? filled(1, 1, second) : second;
  const [rows, columns] = [Math.max(a.rows, b.rows), Math.max(a.columns, b.columns)];
  /** @param {Matrix} m @param {number} at */
  const index = (m, at) =>
    (m.rows === 1 ? 0 : Math.floor(at / columns)) * m.columns + (m.columns === 1 ? 0 : at % columns);
  const values = new Float64Array(rows * columns);
  for (let at = 0; at < values.length; at++) values[at] = f(a.values[index(a, at)], b.values[index(b, at)]);
  const result = new Matrix(rows, columns, values, [a, b], () => {
    result.gradient.forEach((g, at) => {
      const [i, j] = [index(a, at), index(b, at)];
      const [x, y] = [a.values[i], b.values[j]];
      a.gradient[i] += g * byFirst(x, y);
      b.gradient[j] += g * bySecond(x, y);
    });
  });
  return result;
}

/** @param {Matrix} a @param {(x: number) => number} f @param {(x: number) => number} slope */
function each(a, f, slope) {
  const result = new Matrix(a.rows, a.columns, a.values.map(f), [a], () => {
    result.gradient.forEach((g, at) => (a.gradient[at] += g * slope(a.values[at])));
  });
  return result;
}

/** @param {Matrix} a @param {number} rows @param {number} columns @param {(i: number, j: number) => number} from */
function picked(a, rows, columns, from) {
  const places = Array.from({ length: rows * columns }, (_, at) => from(Math.floor(at / columns), at % columns));
  const result = new Matrix(rows, columns, Float64Array.from(places, (place) => a.values[place]), [a], () => {
    places.forEach((place, at) => (a.gradient[place] += result.gradient[at]));
  });
  return result;
}
