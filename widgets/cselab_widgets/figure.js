// Draws a Plotly figure to fit its place: the one renderer of widgets (plot.js) and of pages (page.py).
//
// From NARROW pixels up the figure is drawn as it was laid out. Below, the legend goes on top, planes stand one under
// the other, long axis titles break, and the height follows the width. Colours are the style sheet's; see theme.py.

const cselabFigure = (() => {
  const NARROW = 700;
  const GAP = 92; // pixels between two planes: the axis title of the upper, the title of the lower
  const SQUARE = 520; // pixels, the largest plane whose axes have one scale
  const LINE = 21; // pixels a line of the legend

  const axes = (layout, letter) => Object.keys(layout).filter((key) => RegExp(`^${letter}axis\\d*$`).test(key));
  const domain = (axis) => axis?.domain ?? [0, 1];

  // The planes of a figure, row by row: which axes each has, and where it lies on the wide paper.
  function planesOf(layout) {
    const planes = [];
    for (const y of axes(layout, "y")) {
      if (layout[y].overlaying) continue;
      const anchor = layout[y].anchor ?? y.replace("yaxis", "x");
      const x = anchor.replace("x", "xaxis");
      if (layout[x]) planes.push({ x, y, across: domain(layout[x]), up: domain(layout[y]) });
    }
    return planes.sort((a, b) => b.up[1] - a.up[1] || a.across[0] - b.across[0]);
  }

  function legendLines(data, layout, width) {
    const names = data.filter((t) => t.name && t.showlegend !== false && t.visible !== false).map((t) => t.name);
    if (layout.showlegend === false || !names.length || (names.length < 2 && !data.some((t) => t.showlegend))) return 0;
    const entry = 7.4 * Math.max(...names.map((name) => name.length)) + 46;
    const title = layout.legend?.title?.text ? 1 : 0;
    return Math.ceil(names.length / Math.max(1, Math.floor(width / entry))) + title;
  }

  function broken(title, room) {
    if (title?.text && 7.2 * title.text.length > room) title.text = title.text.replace(" (", "<br>(");
  }

  // What an axis of named rows needs to keep their names apart.
  const named = (layout, plane) => 22 * (layout[plane.y].ticktext?.length ?? 0);

  function stack(layout, planes, inner, tall) {
    const boxes = planes.map((plane) => {
      const square = layout[plane.y].scaleanchor || layout[plane.x].scaleanchor;
      if (square) return inner;
      return Math.max(named(layout, plane), Math.min(Math.max(240, 0.8 * inner), Math.max(160, (plane.up[1] - plane.up[0]) * tall)));
    });
    const total = boxes.reduce((sum, box) => sum + box, 0) + GAP * (planes.length - 1);
    let top = total;
    planes.forEach((plane, i) => {
      plane.now = [(top - boxes[i]) / total, top / total];
      top -= boxes[i] + GAP;
      layout[plane.x].domain = [0, 1];
      layout[plane.y].domain = plane.now;
    });
    for (const note of layout.annotations ?? []) {
      if (note.xref !== "paper" || note.yref !== "paper") continue;
      const home = planes.find(
        ({ across, up }) => note.x >= across[0] && note.x <= across[1] && note.y >= up[0] && note.y <= up[1] + 1e-6
      );
      if (!home) continue;
      note.x = (note.x - home.across[0]) / (home.across[1] - home.across[0]);
      note.y = home.now[0] + ((note.y - home.up[0]) / (home.up[1] - home.up[0])) * (home.now[1] - home.now[0]);
    }
    return total;
  }

  function fitted(data, given, width) {
    const layout = structuredClone(given);
    layout.width = width;
    layout.uirevision ??= "reader"; // keeps the reader's zoom and hidden traces from one state to the next
    const wide = { l: 80, r: 80, t: 100, b: 80, ...layout.template?.layout?.margin, ...layout.margin };
    if (width >= NARROW) {
      const planes = planesOf(layout);
      const square = planes.filter((plane) => layout[plane.y].scaleanchor && plane.up[1] - plane.up[0] === 1);
      if (square.length && square.length === planes.length) {
        const side = (square[0].across[1] - square[0].across[0]) * (width - wide.l - wide.r - 110); // 110: the legend
        layout.height = Math.max(layout.height, Math.min(side, SQUARE) + wide.t + wide.b);
      }
      return layout;
    }
    const margin = { ...wide, l: Math.min(wide.l, 56), r: Math.min(wide.r, 14) };
    const inner = width - margin.l - margin.r;
    let top = 14;

    if (layout.coloraxis?.colorbar && data.some((trace) => trace.marker?.coloraxis || trace.coloraxis)) {
      const bar = { orientation: "h", x: 0, xanchor: "left", len: 1, y: 1, yref: "container", yanchor: "top", thickness: 10 };
      const title = { ...layout.coloraxis.colorbar.title, side: "top" };
      layout.coloraxis.colorbar = { ...layout.coloraxis.colorbar, ...bar, title };
      top += 62;
    }
    const aboveLegend = top - 14;
    const lines = legendLines(data, layout, inner);
    if (lines) top += LINE * lines + 6;
    if (layout.title?.text) {
      layout.title = { ...layout.title, yref: "paper", y: 1, yanchor: "bottom", pad: { b: 10 } };
      top += 24;
    }
    const planes = planesOf(layout);
    if (planes.some((plane) => layout[plane.y].title || layout[plane.x].title)) top += 8;
    if ((layout.annotations ?? []).some((note) => note.y === 1 && note.yanchor === "bottom")) top += 20;
    margin.t = top;

    const tall = layout.height - wide.t - wide.b;
    const height = planes.length > 1 ? stack(layout, planes, inner, tall) : Math.min(tall, Math.max(260, inner, ...planes.map((plane) => named(layout, plane))));
    layout.height = height + margin.t + margin.b;
    if (lines) {
      const title = { ...layout.legend?.title, side: "top" };
      const y = 1 - aboveLegend / layout.height;
      const place = { orientation: "h", x: 0, xanchor: "left", y, yref: "container", yanchor: "top" };
      layout.legend = { ...layout.legend, ...place, title };
    }
    layout.margin = margin;
    for (const { x, y, now } of planes) {
      const share = now ? now[1] - now[0] : layout[y].domain ? layout[y].domain[1] - layout[y].domain[0] : 1;
      broken(layout[x].title, inner);
      broken(layout[y].title, share * height);
      layout[y].automargin = true;
    }
    for (const slider of layout.sliders ?? []) Object.assign(slider, { x: 0.3, len: 0.7 });
    return layout;
  }

  // The numbers by which a figure's points call themselves: `customdata`, or its first column.
  const rowsOf = (points) =>
    points.map(({ customdata: row }) => (row?.length ? row[0] : row)).filter((row) => row !== undefined && row !== null);

  // Draws `figure` into `el` and again whenever the width changes. `told(event, rows)` hears of clicks and selections.
  return function show(Plotly, el, figure, told) {
    let width = 0;
    const draw = (still) => {
      const { data, layout, config, frames } = still;
      const traces = data.map((trace) => ({ ...trace })); // Plotly writes into what it is given
      const first = !el.data;
      Plotly.react(el, { data: traces, layout: fitted(traces, layout, width), config, frames });
      if (!first || !told) return;
      el.on("plotly_click", ({ points }) => told("click", rowsOf(points)));
      el.on("plotly_selected", (picked) => picked && told("select", rowsOf(picked.points)));
      el.on("plotly_deselect", () => told("select", []));
    };
    // Nothing is drawn before the place has a width, nor while it is hidden.
    const fit = new ResizeObserver(() => {
      const now = Math.floor(el.getBoundingClientRect().width);
      if (!now || now === width) return;
      width = now;
      const playing = el.data && figure.frames; // a film stays where the reader stopped it
      draw(playing ? { ...figure, data: el.data, layout: { ...figure.layout, sliders: el.layout.sliders } } : figure);
    });
    fit.observe(el);
    return {
      update(next) {
        figure = next;
        if (width) draw(figure);
      },
      stop() {
        fit.disconnect();
        Plotly.purge(el);
      },
    };
  };
})();
