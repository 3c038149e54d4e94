// Draws the planes of a panel to fit their place: the one renderer of widgets (plot.js) and of pages (page.py).
//
// A plane (planes.py) is a plot with its title, its words and a legend; only what changed is drawn again. `columns` stand
// in a row. `questions` have the planes that answer each: one is shown at a time. Below MIDDLE pixels two planes are
// side by side; below NARROW, one. Long names break. Colours are the style sheet's; see theme.py.

const cselabFigure = (() => {
  const NARROW = 700;
  const TIGHT = 480; // a legend has the names that stand beside points on a wider plot
  const MIDDLE = 1000;
  // Of the letters: a line of the legend.
  const LINE = 1.6;
  const TALL = [0, 420, 420, 330]; // pixels, a plane that stands alone, or beside others
  const LOW = 320; // on a narrow page
  const WIDE = [0, 1100, 680]; // pixels: so wide at most
  const HEAD = 24; // pixels of a line of a title in a saved picture
  const ABOVE = 18; // pixels between a title and its plot
  const BESIDE = 260; // pixels of the text beside a plane
  const MAP = 640; // pixels of a square plane with a text beside it, at most, or half of the room
  const TOUCH = matchMedia("(hover: none)");
  const STILL = matchMedia("(prefers-reduced-motion: reduce)");
  const ROW = 48; // pixels of a row of gains under its name
  const LONG = 110; // pixels: a row's name that is longer takes two lines on a narrow page

  const isApart = ({ meta, text }) => meta === "apart" && text.length > 1;
  const span = ([low, high]) => high - low;

  const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  // Pixels of the text in the planes that are drawn: it grows with their width, up to 16.
  let letters = 13;
  const wide = (text, size = letters) => {
    pen.font = `${size}px system-ui, sans-serif`;
    return Math.max(...String(text).split("<br>").map((line) => pen.measureText(line.replace(/<[^>]*>/g, "")).width));
  };
  const widest = (texts) => Math.max(0, ...texts.map((text) => wide(text)));

  const legendNames = ({ data, layout }, width) => {
    if (width > TIGHT && data.some(isApart)) return []; // they are in the plot
    const names = data.filter((t) => t.name && t.showlegend !== false && t.visible !== false).map((t) => t.name);
    return layout.showlegend === false || (names.length < 2 && !data.some((t) => t.showlegend)) ? [] : names;
  };

  // The height of the legend on top: Plotly sets more names than one line holds out in columns.
  function tallness(names, room) {
    if (!names.length) return 0;
    const entries = names.map((name) => wide(name) + 50);
    const fits = entries.reduce((sum, entry) => sum + entry) <= room;
    return LINE * letters * (fits ? 1 : Math.ceil(names.length / Math.max(1, Math.floor(room / Math.max(...entries))))) + 10;
  }

  // What plotly.js would show of a title, which is a little HTML.
  const unmarked = (text) => new DOMParser().parseFromString(text.replace(/<br>/g, " "), "text/html").body.textContent;

  // A text of more than `room` pixels in two lines.
  function inTwoLines(text, room, size = letters) {
    const spaces = [...text.matchAll(/ /g)].map(({ index }) => index);
    if (wide(text, size) < room || !spaces.length || text.includes("<br>")) return text;
    const off = (place) => Math.abs(place - text.length / 2);
    const middle = spaces.reduce((best, one) => (off(one) < off(best) ? one : best));
    return `${text.slice(0, middle)}<br>${text.slice(middle + 1)}`;
  }

  // A name in two lines of about `room` pixels, or in three.
  function inLines(name, room) {
    const two = inTwoLines(name, room);
    if (wide(two) < 1.4 * room) return two;
    const words = name.replace(/<br>/g, " ");
    const third = wide(words) / 2.6;
    return words.split(" ").reduce((lines, word) => lines + (wide(lines.split("<br>").at(-1) + word) < third ? " " : "<br>") + word);
  }

  // Names about their points: each covers no name, no named point and few lines, or is left out. `at` gives pixels.
  function setApart(trace, data, at, room) {
    const points = trace.text.map((_, i) => at(trace.x[i], trace.y[i]));
    const drawn = data.filter(({ mode, fill }) => !/text/.test(mode) && !fill).flatMap(({ x, y, mode }) =>
      Array.from(x, (_, i) => at(x[i], y[i])).flatMap((from, i, path) =>
        Array.from({ length: 20 }, (_, n) => from.map((z, axis) => z + (((/lines/.test(mode) && path[i + 1]) || from)[axis] - z) * (n / 20)))));
    const near = (a, b, w, h) => Math.abs(a[0] - b[0]) < w && Math.abs(a[1] - b[1]) < h;
    const h = 0.65 * letters;
    const taken = [];
    const chosen = trace.text.map((text, i) => {
      const w = wide(text) / 2 + 3;
      const places = [10, 24, 44].flatMap((gap) => [0, 1, 2].flatMap((right) => [0, 1, 2].map((down) => {
        const middle = [points[i][0] + (right - 1) * (gap + w), points[i][1] + (down - 1) * (gap + h)];
        // A name near another point misleads.
        const cost = gap - ((right + down) % 2) + 40 * points.some((p, n) => n !== i && near(p, middle, w + gap, h + gap)) +
          3 * drawn.filter((point) => near(point, middle, w, h + 4)).length;
        return { side: ["top", "middle", "bottom"][down] + [" left", " center", " right"][right], gap, w, h, middle, cost };
      })));
      const [best] = places.filter(({ middle }) => near(middle, [room[0] / 2, room[1] / 2], room[0] / 2 - w, room[1] / 2 + 9 - h) &&
        !taken.some((other) => near(other.middle, middle, w + other.w, h + other.h))).sort((a, b) => a.cost - b.cost);
      if (best) taken.push(best);
      return best ?? { side: "top left", gap: 10, w: 0 };
    });
    trace.text = trace.text.map((text, i) => (chosen[i].w ? text : ""));
    // Plotly.js keeps this from them.
    trace.marker = { ...trace.marker, size: chosen.map(({ gap }) => 1.6 * (gap - 1)) };
    trace.textposition = chosen.map(({ side }) => side);
  }

  // Numbers below 0, and names such as -noise, have the sign that plotly.js writes at its axes.
  const withMinus = (text) => text.replace(/(?<![^\s(,[>])-(?=\w)/g, "−");

  // Pixels for the scale of colours.
  const scaleOf = (data) => Math.max(14, ...data.filter(({ showscale }) => showscale).map(({ colorbar }) => 42 + widest(colorbar.ticktext ?? [])));
  // Height to width of a square plane.
  const shapeOf = ({ xaxis, yaxis }) => (xaxis.range && yaxis.range ? Math.min(1, Math.abs(span(yaxis.range) / span(xaxis.range))) : 1);

  // One plane, so `tall`, under a legend of `top` pixels; beside it the names at the ends of its lines, or a scale. Its title
  // and its words stand around the plot, see `make`. `named`: pixels for the names of rows, at least.
  const fitted = (tall, top, scaled, named) => (data, given, width) => {
    const { title, transition, ...layout } = { xaxis: {}, yaxis: {}, ...structuredClone(given) };
    const { xaxis, yaxis } = layout;
    const bare = xaxis.showticklabels === false && yaxis.showticklabels === false; // a map: its names stand in it
    const last = xaxis.range ? xaxis.range[0] + 0.7 * span(xaxis.range) : -Infinity;
    const far = xaxis.range && xaxis.type === "log" ? 10 ** last : last;
    const judged = width < NARROW && data.some(({ mode, text }) => mode === "text" && text.some((line) => line.includes("\u2003")));
    if (width < NARROW) for (const trace of data) if (trace.mode === "text") trace.text = trace.text.map((text) => text.replace(/\s*(.*?)\s*\u2003(.*)/, (_, numbers, words) => [words, numbers.replace(/\s+/, ", ")].filter(Boolean).map((line) => `\u2002${line}`).join("<br>")));
    if (legendNames({ data, layout }, 0).length && data.some(isApart)) {
      if (width > TIGHT) layout.showlegend = false;
      else data.find(isApart).visible = false;
    }
    const words = bare || xaxis.side === "top" ? [] : data.filter(({ mode, meta, visible }) => (mode === "text" || meta === "apart") && visible !== false);
    // Its points: half of it may stand out, wherever it is.
    const centred = ({ textposition }) => /center$/.test(textposition);
    const ends = words.filter((trace) => !centred(trace)).flatMap(({ text, x }) => (text ?? []).filter((_, i) => x[i] >= far));
    const beside = Math.max(widest(ends), widest(words.filter(centred).flatMap(({ text }) => text ?? [])) / 2);
    const scale = Math.max(scaled, scaleOf(data));
    const larger = 3 * (letters - 13);
    const margin = { l: bare ? 28 : 60 + larger, r: Math.min(beside + scale + (beside && 6), width / 2.4), t: ABOVE + top, b: xaxis.side === "top" ? 8 : bare ? 14 : 52 + larger };
    layout.font = { size: letters };
    for (const axis of [xaxis, yaxis]) [axis.tickfont, axis.title] = [{ size: letters - 1 }, { ...axis.title, font: { size: letters } }];
    const inCells = (change) => data.forEach((trace) => trace.text?.[0]?.map && (trace.text = trace.text.map((row) => row.map(change))));
    const form = /%\{z:\.1f\}/; // plotly.js would write a hyphen before numbers below 0
    for (const trace of data.filter(({ hovertemplate }) => form.test(hovertemplate))) {
      trace.text = Array.from(trace.z, (row) => Array.from(row, (z) => (Number.isFinite(z) ? (Math.round(10 * z) / 10 + 0).toFixed(1) : "")));
      for (const key of ["texttemplate", "hovertemplate"]) trace[key] = trace[key]?.replace(form, "%{text}");
    }
    const gains = data.some(({ text }) => text?.[0]?.map && text.flat().some((cell) => /^(<b>)?\+/.test(cell)));
    inCells(withMinus);
    for (const trace of data) if (/text/.test(trace.mode)) trace.text = trace.text.map(withMinus);
    for (const axis of [xaxis, yaxis]) axis.ticktext = axis.ticktext?.map(withMinus);
    // On a narrow page the name of a row stands above its cells or dots, and the title of the values above the plot.
    const long = xaxis.side !== "top" && yaxis.ticktext && !yaxis.ticktext.some((name) => name.includes("<br>")) && widest(yaxis.ticktext) > LONG / 2;
    const above = width < NARROW && (gains || judged || long);
    if (width < NARROW) {
      if (!above) yaxis.ticktext = yaxis.ticktext?.map((name) => inLines(name, LONG));
      if (data.some(({ text }) => text?.[0]?.map)) for (const trace of data) trace.textfont = { size: width < TIGHT ? 11 : 14 };
    }
    const atLeft = (text, more) => ({ text, x: 0, xref: "paper", xanchor: "left", align: "left", showarrow: false, font: { size: letters - 1 }, ...more });
    const names = yaxis.ticktext ?? [];
    const upright = width < NARROW && xaxis.side !== "top" && !yaxis.scaleanchor && inTwoLines(yaxis.title?.text ?? "", width - 16).replace("←", "↓").replace("→", "↑");
    if (upright) [yaxis.title, margin.l] = [{}, margin.l - 18];
    // Plotly would draw all once more.
    const titled = (axis) => (axis.title?.text && xaxis.side === "top" ? 1.7 * letters : 0);
    if (names.length && (titled(yaxis) || !yaxis.title?.text))
      [margin.l, yaxis.automargin, yaxis.ticklabeloverflow] = [Math.max(24, Math.max(widest(names), named) + 16) + titled(yaxis), false, "allow"];
    if (above) {
      const [cells] = data;
      const first = (row) => `<b>${row ? "" : `${unmarked(xaxis.ticktext[0])} `}${unmarked(cells.text[row][0])}</b>`;
      layout.annotations = names.flatMap((name, row) => {
        const at = { y: yaxis.tickvals[row], yshift: gains ? ROW / 2 : 14 };
        return [atLeft(name.replace(/<br>/g, " "), at), ...(gains ? [atLeft(first(row), { ...at, x: 1, xanchor: "right" })] : [])];
      });
      [margin.l, yaxis.showticklabels] = [gains ? 8 : 16, false];
      if (gains) [margin.t, xaxis.ticklabelstandoff, cells.ygap] = [margin.t + 12, 16, 21];
      if (gains && xaxis.ticktext.length > 1) {
        for (const key of ["z", "text", "hovertext"]) cells[key] = Array.from(cells[key], (row) => row.slice(1)); // the first is beside the name
        [cells.x, xaxis.tickvals, xaxis.ticktext] = [cells.x, xaxis.tickvals, xaxis.ticktext].map((list) => list.slice(1));
      }
    }
    if (upright) {
      margin.t += 1.6 * letters * upright.split("<br>").length;
      layout.annotations = [atLeft(upright, { xshift: 8 - margin.l, y: 1, yref: "paper", yanchor: "bottom", yshift: 4 })];
    }
    if (xaxis.side === "top") {
      const heads = xaxis.ticktext ?? data[0].x;
      const column = (width - margin.l - margin.r) / heads.length;
      // Two need more room.
      const turned = heads.slice(1).some((head, i) => column < 4 + (wide(head) + wide(heads[i])) / 2);
      xaxis.tickangle = turned ? -45 : 0;
      margin.t += titled(xaxis) + (turned ? 12 + 0.71 * widest(heads) : 24);
    }
    let height = above ? ROW * Math.abs(span(yaxis.range)) : Math.max(tall, 120, (names.length && yaxis.range ? Math.abs(span(yaxis.range)) : names.length) * (1.6 * letters * Math.max(0, ...names.map((name) => name.split("<br>").length)) - 4));
    if (yaxis.scaleanchor) {
      const shape = shapeOf(layout);
      margin.r = Math.max(margin.r, width - margin.l - (width < NARROW ? tall : 1.25 * tall) / shape); // its scale stands beside it
      height = Math.max((width - margin.l - margin.r) * shape, 120);
    }
    for (const [axis, room] of [[xaxis, width - margin.l - margin.r], [yaxis, height]])
      if (axis.title?.text) axis.title.text = inTwoLines(axis.title.text, room);
    // A line more.
    if ([xaxis.title?.text, xaxis.ticktext?.[0]?.replace("<br>", "")].some((text) => text?.includes("<br>"))) margin.b += 1.3 * letters;
    const whole = height + margin.t + margin.b;
    const room = [width - margin.l - margin.r, height];
    const at = (x, y) => [((x - xaxis.range[0]) / span(xaxis.range)) * room[0], ((yaxis.range[1] - y) / span(yaxis.range)) * room[1]];
    for (const trace of data) if (trace.meta === "apart" && trace.visible !== false) setApart(trace, data, at, [room[0] + margin.r, height]);
    const placed = { xref: "container", xanchor: "left", yref: "container", yanchor: "top" };
    const legend = { orientation: "h", x: 8 / width, y: 1 - ABOVE / whole, itemsizing: "constant", ...placed };
    const dragmode = layout.dragmode ?? (TOUCH.matches ? false : "zoom"); // a finger scrolls the page
    const moving = transition && !STILL.matches ? { transition } : {};
    return { ...layout, ...moving, dragmode, width, height: whole, margin, uirevision: "reader", legend };
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

  // A plot in `el`, drawn by `draw(figure, fit, width)`; `told(event, rows, texts)` hears of clicks and selections, and
  // `pointed(texts)` of the points under the pointer.
  function plot(Plotly, el, told, pointed) {
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
      if (!first) return;
      el.on("plotly_hover", ({ points }) => pointed(textsOf(points)));
      if (!told) return;
      el.on("plotly_click", ({ points }) => told("click", rowsOf(points), textsOf(points)));
      // A redraw, too, tells of a selection, of nothing. Only what a hand draws is passed on.
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

  // The plots as one SVG, each under its title, in rows as on the page.
  async function save(Plotly, plots) {
    const rows = Map.groupBy(plots, ({ cell }) => cell.offsetTop);
    let [wide, tall, drawn] = [0, 0, ""];
    for (const row of rows.values()) {
      let [x, height] = [0, 0];
      for (const { el, part } of row) {
        const { width: narrow, height: below, margin, legend, ...layout } = el.layout;
        const scale = /<i/.test(plots[0].part.layout.meta.key) && el === plots.at(-1).el ? 60 : 0; // on the page it stands above the planes
        const width = narrow + scale;
        const text = inTwoLines(part.layout.title.text, width - 16, 17);
        const room = HEAD * text.split("<br>").length;
        const whole = below + room;
        const at = { x: 8 / width, y: 1 - 4 / whole, xref: "container", xanchor: "left", yref: "container", yanchor: "top" };
        const own = { ...layout, width, height: whole, margin: { ...margin, t: margin.t + room, r: margin.r + scale } };
        const data = scale ? el.data.map((trace) => ({ ...trace, showscale: true })) : el.data;
        const figure = { data, layout: { ...own, title: { text, ...at }, legend: { ...legend, y: 1 - (room + ABOVE) / whole } } };
        const svg = await Plotly.toImage(figure, { format: "svg", width, height: whole, imageDataOnly: true });
        drawn += svg.replace("<svg", `<svg x="${x}" y="${tall}"`);
        [x, height] = [x + width + 16, Math.max(height, whole)];
      }
      [wide, tall] = [Math.max(wide, x - 16), tall + height];
    }
    const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${tall}">${drawn}</svg>`;
    const link = document.createElement("a");
    [link.href, link.download] = [URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })), "cselab.svg"];
    link.click();
    URL.revokeObjectURL(link.href);
  }

  // Draws the planes of `picture` into `place`, said in `words` to who cannot see them, and again when the width changes.
  return function show(Plotly, place, picture, words, told) {
    let width = 0;
    let question = 0;
    let asked;
    /** @type {any[]} */
    const plots = [];
    const key = place.appendChild(document.createElement("p"));
    key.className = "cselab-key";
    const planes = place.appendChild(document.createElement("div"));
    planes.className = "cselab-planes";
    planes.setAttribute("role", "figure");
    planes.setAttribute("aria-label", words);
    const saving = place.appendChild(document.createElement("button"));
    Object.assign(saving, { className: "cselab-save", textContent: "save picture" });
    saving.style.alignSelf = "start"; // in the column of a panel
    saving.addEventListener("click", () => save(Plotly, plots.filter(({ cell }) => !cell.hidden)));

    const remove = ({ cell, el }) => {
      Plotly.purge(el);
      cell.remove();
    };
    const make = () => {
      const made = (tag, name) => Object.assign(document.createElement(tag), { className: name && `cselab-${name}` });
      const [cell, title, el, note] = [made("div", "plane"), made("p", "title"), made("div", ""), made("p", "note")];
      const text = made("div", "reads");
      cell.append(title, el, text, note);
      planes.append(cell);
      const pointed = ([found]) => found && ((text.querySelector(".cselab-read") ?? text).innerHTML = withMinus(found));
      return { cell, title, el, text, note, draw: plot(Plotly, el, told, pointed) };
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
      if (saving.parentNode === place) place.closest(".cselab-panel")?.append(saving); // under the explanation
      const { planes: parts, columns: most, questions, config } = picture;
      if (questions.length && !asked) {
        asked = tabBar(questions.map(([name]) => name), ask);
        (place.closest(".cselab-panel") ?? place).prepend(asked.bar);
        return asked.choose(question);
      }
      place.style.minHeight = "";
      const visible = questions.length ? questions[question][1] : parts.map((_, i) => i);
      key.innerHTML = withMinus(parts[visible[0]]?.layout.meta.key ?? ""); // by Python
      const columns = width < NARROW ? 1 : Math.min(most, visible.length, width < MIDDLE ? 2 : Infinity);
      const each = Math.min(Math.floor((width - 16 * (columns - 1)) / columns), WIDE[columns] ?? Infinity);
      letters = Math.max(13, Math.min(16, Math.round(each / 29)));
      const usual = width < NARROW ? LOW : Math.min(TALL[columns] ?? LOW, Math.round(0.75 * each));
      const names = ({ layout: { yaxis } }) => Math.min(LONG, widest(yaxis?.ticktext ?? [])); // no legend stands above them
      const tops = parts.map((part) => tallness(legendNames(part, each), each - 16 - names(part)));
      const highest = Math.max(...visible.map((i) => tops[i]));
      const tables = visible.filter((i) => parts[i].layout.xaxis.side === "top"); // their columns are as wide as each other's
      const named = tables.length > 1 ? Math.max(...tables.map((i) => widest(parts[i].layout.yaxis.ticktext ?? []))) : 0;
      const square = (i) => parts[i].layout.yaxis.scaleanchor && !parts[i].layout.meta.reads;
      const scaled = columns > 1 ? Math.max(0, ...visible.filter(square).map((i) => scaleOf(parts[i].data))) : 0; // equal squares
      // In a row a square plane needs no more than its plot; the others share the rest.
      const others = columns === visible.length && visible.filter((i) => !square(i)).length;
      const saved = (i) => (square(i) ? Math.max(0, Math.floor(each - 60 - scaled - usual / shapeOf(parts[i].layout))) : 0);
      const spare = Math.floor(visible.reduce((sum, i) => sum + saved(i), 0) / others);
      const roomOf = (i) => each + (!others ? 0 : square(i) ? -saved(i) : spare);
      planes.style.gridTemplateColumns = visible.slice(0, columns).map((i) => `${roomOf(i)}px`).join(" ");
      const only = columns > 1 && !visible.slice(1).some((i) => parts[i].layout.title.text);
      plots.splice(parts.length).forEach(remove);
      parts.forEach((part, i) => {
        plots[i] ??= make();
        const shown = plots[i];
        const top = columns > 1 ? highest : tops[i];
        const alone = columns === 2 && i === visible.at(-1) && visible.length % 2; // in the last row
        const room = alone ? 2 * each + 16 : roomOf(i);
        shown.cell.style.gridColumn = alone ? "span 2" : "";
        shown.cell.hidden = !visible.includes(i);
        if (shown.cell.hidden || (shown.width === room && shown.top === top && shown.scaled === scaled && shown.named === named && same(shown.part, part))) return;
        Object.assign(shown, { width: room, top, scaled, named, part });
        const { words, tall, reads } = part.layout.meta;
        shown.title.textContent = withMinus(unmarked(part.layout.title.text));
        shown.title.style.marginRight = only ? `${room - width}px` : ""; // the title of all planes
        shown.note.textContent = words;
        if (shown.reads !== reads) [shown.reads, shown.text.innerHTML] = [reads, withMinus(reads)]; // by Python, which escapes what users give
        shown.text.classList.toggle("cselab-reading", Boolean(reads));
        const beside = part.layout.yaxis.scaleanchor ? Math.max(room / 2, room - MAP) : BESIDE;
        shown.draw({ ...part, config }, fitted(tall || usual, top, square(i) ? scaled : 0, named), reads && room >= NARROW ? room - beside : room);
      });
    };
    const refit = () => {
      const wide = Math.floor(place.getBoundingClientRect().width);
      if (!wide || wide === width) return;
      width = wide;
      draw();
    };
    const fitting = new ResizeObserver(refit);
    place.style.minHeight = `${TALL[1]}px`;
    whenNear(place, () => {
      refit();
      fitting.observe(place);
    });
    return {
      update(next, said) {
        picture = next;
        planes.setAttribute("aria-label", said);
        draw();
      },
      stop() {
        delete place.dataset.waits;
        fitting.disconnect();
        plots.forEach(remove);
        asked?.bar.remove();
        saving.remove();
      },
    };
  };
})();
