// Draws a Plotly figure to fit its place: the one renderer of widgets (plot.js) and of pages (page.py).
//
// A figure of planes that stand apart (`side_by_side` of planes.py says in `layout.meta.columns` how many in a row) becomes
// a plot for each plane, under its title and above its words, with a legend of its own; of these only what changed is drawn
// again. `layout.meta.tabs` says which planes answer which question: one question is shown at a time. Other figures are one plot.
// From MIDDLE pixels up a figure is drawn as it was laid out; below, no more than two planes stand side by side; below
// NARROW, one, and the legend on top. A legend that leaves the planes too little room, or finds too little, goes on top
// at any width. Long axis titles break, and the height follows the width. Colours are the style sheet's; see theme.py.

const cselabFigure = (() => {
  const NARROW = 700;
  const MIDDLE = 1000;
  const GAP = 92; // pixels between two planes: the axis title of the upper, the title of the lower
  const BESIDE = 88; // pixels between two columns: the numbers and the axis title of the right one
  const SQUARE = 520; // pixels, the largest plane whose axes have one scale
  const LEAST = 240; // pixels: where planes would be narrower, the legend leaves their side and goes on top
  const LINE = 30; // pixels a line of the legend
  const BAR = 30; // pixels kept free above for the tool bar
  const TALL = [0, 380, 330]; // pixels, a plane that stands alone, or beside another
  const LOW = 270; // with more beside it, or on a narrow page
  const WIDE = [0, 1000, 660]; // pixels: so wide at most
  const LONG = 110; // pixels: a row's name that is longer takes two lines on a narrow page

  const axes = (layout, letter) => Object.keys(layout).filter((key) => RegExp(`^${letter}axis\\d*$`).test(key));
  const domain = (axis) => axis?.domain ?? [0, 1];
  const span = ([low, high]) => high - low;

  const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  const wide = (text, size = 13) => {
    pen.font = `${size}px system-ui, sans-serif`;
    return Math.max(...String(text).split("<br>").map((line) => pen.measureText(line.replace(/<[^>]*>/g, "")).width));
  };
  const widest = (texts, size) => Math.max(0, ...texts.map((text) => wide(text, size)));

  // The planes of a figure, row by row: which axes each has, and where it lies on the wide paper.
  function planesOf(layout) {
    const planes = [];
    for (const y of axes(layout, "y")) {
      if (layout[y].overlaying) continue;
      const anchor = layout[y].anchor ?? y.replace("yaxis", "x");
      const x = anchor.replace("x", "xaxis");
      if (!layout[x]) continue;
      const square = Boolean(layout[y].scaleanchor || layout[x].scaleanchor);
      const [long, high] = [layout[x].range, layout[y].range];
      const shape = square && long && high ? Math.min(1, Math.abs(span(high) / span(long))) : 1; // height to width
      planes.push({ x, y, across: domain(layout[x]), up: domain(layout[y]), square, shape });
    }
    return planes.sort((a, b) => b.up[1] - a.up[1] || a.across[0] - b.across[0]);
  }

  const legendNames = (data, layout) => {
    const names = data.filter((t) => t.name && t.showlegend !== false && t.visible !== false).map((t) => t.name);
    return layout.showlegend === false || (names.length < 2 && !data.some((t) => t.showlegend)) ? [] : names;
  };

  // The height of the legend on top. Plotly packs names in groups one after another, and sets others out in columns.
  function tallness(names, grouped, title, room) {
    if (!names.length) return 0;
    const entries = names.map((name) => wide(name) + 50);
    let lines = 1;
    if (grouped) {
      let taken = 0;
      for (const entry of entries) {
        if (taken && taken + entry > room) [lines, taken] = [lines + 1, 0];
        taken += entry;
      }
    } else if (entries.reduce((sum, entry) => sum + entry) > room) {
      lines = Math.ceil(names.length / Math.max(1, Math.floor(room / Math.max(...entries))));
    }
    return (grouped ? LINE : LINE - 10) * lines + (grouped ? 0 : 10) + (title ? 24 : 0);
  }

  // What plotly.js would show of a title, which is a little HTML.
  const unmarked = (text) => new DOMParser().parseFromString(text.replace(/<br>/g, " "), "text/html").body.textContent;

  function broken(title, room) {
    if (title?.text && wide(title.text, title.font?.size ?? 16) > room) title.text = title.text.replace(" (", "<br>(");
  }

  // A name in two lines, parted at the space next to its middle, where one line would take much of a narrow page.
  function inTwoLines(name) {
    const spaces = [...name.matchAll(/ /g)].map(({ index }) => index);
    if (wide(name) < LONG || !spaces.length || name.includes("<br>")) return name;
    const off = (place) => Math.abs(place - name.length / 2);
    const middle = spaces.reduce((best, one) => (off(one) < off(best) ? one : best));
    return `${name.slice(0, middle)}<br>${name.slice(middle + 1)}`;
  }

  // What an axis of named rows needs to keep their names apart, and to stand beside a plane.
  const named = (layout, plane) => {
    const names = layout[plane.y].ticktext ?? [];
    return names.length * (names.some((name) => name.includes("<br>")) ? 30 : 22);
  };
  const beside = (layout, plane) => (layout[plane.y].ticktext ? widest(layout[plane.y].ticktext) + 28 : 0);

  // The planes in so many columns; returns the height they take.
  function arrange(layout, planes, columns, inner, tall) {
    const gap = Math.max(BESIDE, ...planes.map((plane) => beside(layout, plane)));
    const column = (inner - gap * (columns - 1)) / columns;
    const boxes = planes.map((plane) =>
      plane.square
        ? Math.min(column * plane.shape, SQUARE)
        : Math.max(named(layout, plane), Math.min(Math.max(240, 0.8 * column), Math.max(160, span(plane.up) * tall)))
    );
    const rows = [];
    for (let first = 0; first < planes.length; first += columns) rows.push(Math.max(...boxes.slice(first, first + columns)));
    const total = rows.reduce((sum, row) => sum + row, 0) + GAP * (rows.length - 1);
    let top = total;
    planes.forEach((plane, i) => {
      const left = ((i % columns) * (column + gap)) / inner;
      const row = rows[Math.floor(i / columns)];
      plane.now = { across: [left, left + column / inner], up: [(top - row) / total, top / total] };
      layout[plane.x].domain = plane.now.across;
      layout[plane.y].domain = plane.now.up;
      if (i % columns === columns - 1) top -= row + GAP;
    });
    for (const note of layout.annotations ?? []) {
      if (note.xref !== "paper" || note.yref !== "paper") continue;
      const home = planes.find(
        ({ across, up }) => note.x >= across[0] && note.x <= across[1] && note.y >= up[0] && note.y <= up[1] + 1e-6
      );
      if (!home) continue;
      note.x = home.now.across[0] + ((note.x - home.across[0]) / span(home.across)) * span(home.now.across);
      // Beside long names of rows a plane is small: what stands above it then begins above them.
      const own = column - Math.max(0, beside(layout, home) - 56);
      if (wide(note.text, 14) > own) [note.x, note.xanchor] = [home.now.across[1], "right"];
      note.y = home.now.up[0] + ((note.y - home.up[0]) / span(home.up)) * span(home.now.up);
    }
    return total;
  }

  function fitted(data, given, width) {
    const layout = structuredClone(given);
    layout.width = width;
    layout.uirevision ??= "reader"; // keeps the reader's zoom and hidden traces from one state to the next
    const margin = { l: 80, r: 80, t: 100, b: 80, ...layout.template?.layout?.margin, ...layout.margin };
    const tall = layout.height - margin.t - margin.b;
    const narrow = width < NARROW;
    if (narrow) Object.assign(margin, { l: Math.min(margin.l, 56), r: Math.min(margin.r, 14) });
    const inner = width - margin.l - margin.r;

    if (narrow)
      for (const axis of axes(layout, "y").map((y) => layout[y])) {
        axis.ticktext = axis.ticktext?.map(inTwoLines);
        if (axis.ticktext) axis.tickfont = { size: 11, ...axis.tickfont };
      }
    const planes = planesOf(layout);
    const given_columns = new Set(planes.map(({ across }) => across[0])).size;
    const columns = Math.min(given_columns, narrow ? 1 : width < MIDDLE ? 2 : Infinity);
    const apart_by = planes.flatMap((one) => planes.map((other) => other.across[0] - one.across[1]).filter((gap) => gap > 0));
    const tight = Math.min(...apart_by) * inner < BESIDE; // an axis title would lie on the plane to its left
    const moved = planes.length > 1 && (narrow || tight || columns < given_columns);
    const names = legendNames(data, layout);
    const bar = layout.coloraxis?.colorbar && data.some((trace) => trace.marker?.coloraxis || trace.coloraxis);

    // Where the legend stands: beside the planes, if that leaves them room enough and it is no taller than they are.
    const side = names.length ? widest(names) + 60 : bar ? 90 : 0;
    const smallest = moved ? 1 / columns : Math.min(...planes.map(({ across }) => span(across)));
    const long = LINE * (names.length + 2) > tall;
    const onTop = names.length > 0 && (narrow || layout.legend?.yref === "container" || long || (inner - side) * smallest < LEAST);
    const room = inner - (narrow || (onTop && !bar) ? 0 : onTop ? 90 : side);

    let top = narrow || onTop ? BAR : 14;
    const colours = top;
    if (narrow && bar) top += 62;
    const legend = top;
    if (onTop) {
      const taken = narrow ? Math.max(0, ...planes.map((plane) => beside(layout, plane) - margin.l)) : 0; // by names of rows
      const grouped = data.some((trace) => trace.legendgroup);
      top += tallness(names, grouped, layout.legend?.title?.text, inner - taken) + 12;
    }
    if (narrow || onTop) {
      if (layout.title?.text) {
        layout.title = { ...layout.title, yref: "paper", y: 1, yanchor: "bottom", pad: { b: 10 } };
        top += 24;
      }
      top += 8;
      if ((layout.annotations ?? []).some((note) => note.y === 1 && note.yanchor === "bottom")) top += 20;
      margin.t = top;
    }

    let height = tall;
    if (moved) height = arrange(layout, planes, columns, room, tall);
    else if (planes.length && planes.every((plane) => plane.square && span(plane.up) === 1))
      height = Math.min(Math.max(span(planes[0].across) * room * planes[0].shape, 0.6 * LEAST), SQUARE);
    else if (narrow) height = Math.max(Math.min(tall, Math.max(260, inner)), ...planes.map((plane) => named(layout, plane)));
    layout.height = height + margin.t + margin.b;
    layout.margin = margin;

    if (onTop) {
      const y = 1 - legend / layout.height;
      const place = { orientation: "h", x: narrow ? 8 / width : 0, xanchor: "left", y, yref: "container", yanchor: "top" };
      if (narrow) place.xref = "container";
      layout.legend = { ...layout.legend, ...place, title: { ...layout.legend?.title, side: "top" } };
    }
    if (bar && narrow) {
      // In parts of the paper, not of the container: plotly.js 4 forgets where that is when the width changes.
      const above = (pixels) => 1 + (margin.t - pixels) / height;
      const { title, ...colorbar } = layout.coloraxis.colorbar;
      const place = { orientation: "h", x: 0, xanchor: "left", len: 1, y: above(colours + 22), yanchor: "top", thickness: 10, ypad: 0 };
      layout.coloraxis.colorbar = { ...colorbar, ...place, title: { text: "" } };
      const said = { text: title?.text ?? "", showarrow: false, xref: "paper", x: 0, xanchor: "left" };
      layout.annotations = [...(layout.annotations ?? []), { ...said, yref: "paper", y: above(colours + 20), yanchor: "bottom" }];
    } else if (bar && onTop) {
      layout.coloraxis.colorbar = { ...layout.coloraxis.colorbar, y: 0.5, yanchor: "middle", len: 0.9 };
    }
    for (const { x, y } of planes) {
      if (narrow) for (const { title } of [layout[x], layout[y]]) if (title) title.font = { size: 13, ...title.font };
      broken(layout[x].title, span(domain(layout[x])) * room);
      broken(layout[y].title, span(domain(layout[y])) * height);
      if (narrow) layout[y].automargin = true;
    }
    return layout;
  }

  // A figure's planes as figures of their own; a figure whose planes belong together stays whole.
  function apart({ data, layout, config }) {
    if (!layout.meta?.columns) return [{ data, layout, config }];
    const fewer = ["select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"]; // the bar stands beside the title
    return planesOf(layout).map(({ x, y }, i) => {
      const id = x.replace("axis", "");
      const own = ({ domain, anchor, scaleanchor, ...axis }) => axis;
      const known = new Set();
      const traces = data
        .filter((trace) => (trace.xaxis ?? "x") === id)
        .map(({ xaxis, yaxis, legendgroup: name, ...trace }) => {
          const first = name !== undefined && trace.visible !== false && !known.has(name);
          if (first) known.add(name);
          return { ...trace, showlegend: first };
        });
      const up = { ...own(layout[y]), ...(layout[y].scaleanchor && { scaleanchor: "x", constraintoward: "top" }) };
      return {
        data: traces,
        layout: { template: layout.template, xaxis: own(layout[x]), yaxis: up },
        title: layout.annotations[i].text,
        words: layout.meta.words?.[i] ?? "",
        config: { ...config, modeBarButtonsToRemove: fewer },
      };
    });
  }

  // One of several planes, so `tall`: its legend, the plane, the names at the ends of its lines.
  const fittedAlone = (tall) => (data, given, width) => {
    const layout = structuredClone(given);
    const ends = data.filter(({ mode }) => mode === "text").flatMap(({ text }) => text ?? []);
    const scale = data.some(({ showscale }) => showscale) ? 46 : 14;
    const margin = { l: 60, r: Math.min(widest(ends) + scale, width / 3), b: 52 };
    const names = legendNames(data, layout);
    margin.t = BAR + (names.length ? tallness(names, false, "", width - 16) : 0);
    const [plane] = planesOf(layout);
    if (plane.square) margin.r = Math.max(margin.r, width - margin.l - (1.25 * tall) / plane.shape); // its scale stands beside it
    const inner = width - margin.l - margin.r;
    const height = plane.square ? Math.min(inner * plane.shape, 1.25 * tall) : Math.max(named(layout, plane), tall);
    const above = (pixels) => 1 - pixels / (height + margin.t + margin.b);
    broken(layout.xaxis.title, inner);
    broken(layout.yaxis.title, height);
    return {
      ...layout,
      width,
      height: height + margin.t + margin.b,
      margin,
      uirevision: "reader",
      legend: { orientation: "h", x: 8 / width, xref: "container", xanchor: "left", y: above(BAR), yref: "container", yanchor: "top" },
    };
  };

  // Whether two values of figures are equal, entry by entry.
  function same(a, b) {
    if (a === b || !a || !b || typeof a !== "object" || typeof b !== "object") return Object.is(a, b);
    if (a.length !== undefined) return a.length === b.length && a.every((one, i) => same(one, b[i]));
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => key in b && same(a[key], b[key]));
  }

  // The numbers by which a figure's points call themselves: `customdata`, or its first column.
  const rowsOf = (points) =>
    points.map(({ customdata: row }) => (row?.length ? row[0] : row)).filter((row) => row !== undefined && row !== null);

  // What they say when pointed at.
  const textsOf = (points) => points.map((point) => point.customdata?.[1] ?? point.hovertext ?? point.text).filter(Boolean);

  // A plot in `el`, drawn by `draw(figure, fit, width)`; `told(event, rows, texts)` hears of clicks and selections.
  function plot(Plotly, el, told) {
    let drawing = 0;
    let lasso = false;
    const quietly = (drawn) => {
      drawing += 1;
      drawn.finally(() => (drawing -= 1));
    };
    return function draw({ data, layout, config }, fit, width) {
      const traces = data.map((trace) => ({ ...trace })); // Plotly writes into what it is given
      const first = !el.data;
      quietly(Plotly.react(el, { data: traces, layout: fit(traces, layout, width), config }));
      if (!first || !told) return;
      el.on("plotly_click", ({ points }) => told("click", rowsOf(points), textsOf(points)));
      // A redraw, too, tells of a selection: of nothing, whatever was selected. Only what a hand draws is passed on.
      el.on("plotly_selecting", () => (lasso ||= !drawing));
      el.on("plotly_selected", (picked) => {
        if (!picked || !lasso || drawing) return;
        lasso = false;
        told("select", rowsOf(picked.points), textsOf(picked.points));
        // Its outline would stay, and the next lasso begun on it would push it about and select nothing.
        quietly(Plotly.relayout(el, { selections: [] }));
      });
      el.on("plotly_deselect", () => drawing || told("select", [], []));
    };
  }

  // Calls `begin` when a place comes near the window, or when there is nothing else to do: what is looked at comes first.
  function whenNear(place, begin) {
    const once = () => {
      near.disconnect();
      if (place.dataset.waits) begin();
      delete place.dataset.waits;
    };
    const near = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && once(), { rootMargin: "400px" });
    place.dataset.waits = "yes";
    near.observe(place);
    (window.requestIdleCallback ?? setTimeout)(once, { timeout: 2000 });
  }

  // The questions of a panel, above its controls; `chosen(number)` hears of the one that is asked.
  function tabBar(questions, chosen) {
    const bar = document.createElement("div");
    bar.className = "cselab-tabs";
    bar.setAttribute("role", "tablist");
    const buttons = questions.map((question, i) => {
      const button = bar.appendChild(document.createElement("button"));
      button.setAttribute("role", "tab");
      button.textContent = question;
      button.addEventListener("click", () => choose(i));
      return button;
    });
    function choose(number) {
      buttons.forEach((button, i) => {
        button.setAttribute("aria-selected", String(i === number));
        button.tabIndex = i === number ? 0 : -1;
      });
      chosen(number);
    }
    bar.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length;
      buttons[next].focus();
      choose(next);
    });
    return { bar, choose };
  }

  // Draws `figure` into `place`, said in `words` to who cannot see it, and again whenever the width changes.
  return function show(Plotly, place, figure, words, told) {
    let width = 0;
    let question = 0;
    let asked;
    /** @type {any[]} */
    const plots = [];
    const planes = place.appendChild(document.createElement("div"));
    planes.className = "cselab-planes";
    planes.setAttribute("role", "figure");
    planes.setAttribute("aria-label", words);

    const remove = ({ cell, el }) => {
      Plotly.purge(el);
      cell.remove();
    };
    const make = () => {
      const made = (tag, name) => Object.assign(document.createElement(tag), { className: name && `cselab-${name}` });
      const [cell, title, el, note] = [made("div", "plane"), made("p", "title"), made("div", ""), made("p", "note")];
      cell.append(title, el, note);
      planes.append(cell);
      return { cell, title, el, note, draw: plot(Plotly, el, told) };
    };
    // The panel shows the controls of the question that is asked; see panel.css.
    const ask = (number) => {
      question = number;
      const panel = place.closest(".cselab-panel");
      if (panel) panel.dataset.question = String(number);
      draw();
    };
    const draw = () => {
      if (!width) return; // nothing is drawn before the place has a width, nor while it is hidden
      const { columns: most = 1, tabs = [] } = figure.layout.meta ?? {};
      if (tabs.length && !asked) {
        asked = tabBar(tabs.map(([name]) => name), ask);
        (place.closest(".cselab-panel") ?? place).prepend(asked.bar);
        return asked.choose(question);
      }
      place.style.minHeight = "";
      const parts = apart(figure);
      const visible = tabs.length ? tabs[question][1] : parts.map((_, i) => i);
      const columns = width < NARROW ? 1 : Math.min(most, visible.length, width < MIDDLE ? 2 : Infinity);
      const fit = figure.layout.meta?.columns ? fittedAlone(width < NARROW ? LOW : (TALL[columns] ?? LOW)) : fitted;
      const room = Math.floor((width - 16 * (columns - 1)) / columns);
      const each = figure.layout.meta?.columns ? Math.min(room, WIDE[columns] ?? room) : room;
      planes.style.gridTemplateColumns = `repeat(${columns}, ${each}px)`;
      plots.splice(parts.length).forEach(remove);
      parts.forEach((part, i) => {
        plots[i] ??= make();
        const shown = plots[i];
        shown.cell.hidden = !visible.includes(i);
        if (shown.cell.hidden || (shown.width === each && parts.length > 1 && same(shown.part, part))) return;
        Object.assign(shown, { width: each, part });
        shown.title.textContent = unmarked(part.title ?? "");
        shown.note.textContent = part.words ?? "";
        shown.draw(part, fit, each);
      });
    };
    const refit = () => {
      const wide = Math.floor(place.getBoundingClientRect().width);
      if (!wide || wide === width) return;
      width = wide;
      draw();
    };
    const fitting = new ResizeObserver(refit);
    place.style.minHeight = `${figure.layout.meta?.tabs?.length ? TALL[1] : figure.layout.height}px`;
    whenNear(place, () => {
      refit();
      fitting.observe(place);
    });
    return {
      update(next, said) {
        figure = next;
        planes.setAttribute("aria-label", said);
        draw();
      },
      stop() {
        delete place.dataset.waits;
        fitting.disconnect();
        plots.forEach(remove);
        asked?.bar.remove();
      },
    };
  };
})();
