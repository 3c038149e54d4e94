// A panel's planes in a notebook. plotly.js itself is sent once for all plots; see plot.py. figure.js and listen.js stand above.

const plotly = () =>
  new Promise((found) => {
    (function look() {
      const { Plotly } = /** @type {any} */ (window);
      if (Plotly) found(Plotly);
      else setTimeout(look, 50);
    })();
  });

const ARRAYS = { float32: Float32Array, int32: Int32Array };

// An array of numbers comes as bytes: { dtype, shape, bytes }. A table becomes one array a row.
function unpacked(value) {
  if (Array.isArray(value)) return value.map(unpacked);
  if (value === null || typeof value !== "object") return value;
  if (!value.bytes) return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, unpacked(part)]));
  const { buffer, byteOffset, byteLength } = value.bytes;
  const numbers = new ARRAYS[value.dtype](buffer.slice(byteOffset, byteOffset + byteLength));
  const [rows, columns] = value.shape;
  if (columns === undefined) return numbers;
  return Array.from({ length: rows }, (_, row) => numbers.subarray(row * columns, (row + 1) * columns));
}

// The planes that the panel shows now: those it opened with, and what has changed since.
function current(opening, change) {
  const planes = opening.planes.map((plane, i) => {
    const { data = {}, layout = plane.layout } = change[i] ?? {};
    return { layout, data: plane.data.map((trace, j) => ({ ...trace, ...data[j] })) };
  });
  return { ...opening, planes };
}

// JupyterLab (4.6) takes Enter, the arrows and single letters for the notebook's, whatever has the focus, but for text
// fields: a list would lose the focus on the first arrow, and D D in it would delete the cell. Our controls keep them.
function keepsItsKeys({ target }) {
  const control = target.closest?.(".cselab-panel") && target.matches("select, button, [role=slider]");
  if (control) target.setAttribute("data-lm-suppress-shortcuts", "true");
}

async function render({ model, el }) {
  listen(model);
  document.addEventListener("focusin", keepsItsKeys);
  const Plotly = await plotly();
  let opening = unpacked(model.get("opening"));
  const picture = () => current(opening, unpacked(model.get("change")));
  const place = el.appendChild(document.createElement("div"));
  place.className = "cselab-figure"; // here, not from Python: a second view of a widget may lose the classes given there
  const told = (event, rows) => model.send({ event, rows: Array.from(rows, Number) });
  const shown = cselabFigure(Plotly, place, picture(), model.get("words"), told);
  const changed = () => shown.update(picture(), model.get("words"));
  const reopened = () => {
    opening = unpacked(model.get("opening"));
    changed();
  };
  model.on("change:change", changed);
  model.on("change:opening", reopened);
  return () => {
    model.off("change:change", changed);
    model.off("change:opening", reopened);
    shown.stop();
  };
}

export default { render };
