// The figures of a page, in the reader's light or dark scheme: those near the window first, the rest when there is nothing
// else to do, what is folded when it is unfolded. Only the template follows the scheme: a colour set in a figure stays.
// The book names its scheme in `data-theme`.
(() => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => {
    const chosen = document.body.dataset.theme;
    return chosen === "dark" || (chosen !== "light" && system.matches);
  };
  const painted = (template = {}) => {
    const [ink, line] = isDark() ? ["#d5dae1", "#3b424c"] : ["#24292f", "#dde1e6"];
    const axis = { gridcolor: line, linecolor: line, zerolinecolor: line };
    const { layout = {} } = template;
    const colours = {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { ...layout.font, color: ink },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: line, activecolor: ink },
      xaxis: { ...layout.xaxis, ...axis },
      yaxis: { ...layout.yaxis, ...axis },
    };
    return { ...template, layout: { ...layout, ...colours } };
  };

  const plotly = () => /** @type {any} */ (window).Plotly;
  const draw = (place) => {
    if (place.data || !place.offsetWidth) return;
    near.unobserve(place);
    const { layout = {}, ...figure } = JSON.parse(place.querySelector("script").textContent);
    place.textContent = "";
    place.style.minHeight = "";
    const config = { responsive: true, displaylogo: false, showSendToCloud: false };
    plotly().newPlot(place, { ...figure, layout: { ...layout, template: painted(layout.template) }, config });
  };
  const near = new IntersectionObserver(
    (seen) => seen.filter((one) => one.isIntersecting).forEach((one) => draw(one.target)),
    { rootMargin: "400px" },
  );
  /** @type {any[]} */
  const places = [...document.querySelectorAll(".figure")];
  for (const place of places) {
    near.observe(place);
    (window.requestIdleCallback ?? setTimeout)(() => draw(place), { timeout: 2000 });
  }
  addEventListener("beforeprint", () => places.forEach(draw));

  const repaint = () => {
    for (const place of places) if (place.data) plotly().relayout(place, { template: painted(place.layout.template) });
  };
  new MutationObserver(repaint).observe(document.body, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", repaint);
})();
