// A Plotly figure that fits its cell. plotly.js itself is sent once for all plots; see plot.py.

const plotly = () =>
  new Promise((found) => {
    (function look() {
      if (window.Plotly) found(window.Plotly);
      else setTimeout(look, 50);
    })();
  });

async function render({ model, el }) {
  const Plotly = await plotly();
  const draw = () => {
    // Plotly writes into what it is given. A constant uirevision keeps the reader's zoom and hidden traces.
    const { data, layout, config } = structuredClone(model.get("figure"));
    Plotly.react(el, data, { ...layout, uirevision: "reader" }, config);
  };
  // Nothing is drawn before the cell has a width, nor while it is hidden.
  const redraw = () => el.data && draw();
  const fit = new ResizeObserver(() => {
    if (!el.offsetWidth) return;
    if (el.data) Plotly.Plots.resize(el);
    else draw();
  });
  fit.observe(el);
  model.on("change:figure", redraw);
  return () => {
    model.off("change:figure", redraw);
    fit.disconnect();
    Plotly.purge(el);
  };
}

export default { render };
