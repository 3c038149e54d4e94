// The figures of a page: each is drawn when it comes near the window, in the reader's light or dark scheme. Only the
// template follows that scheme: a colour set in a figure stays. The book names its own in `data-theme`.
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

  const draw = (place) => {
    near.unobserve(place);
    const { layout = {}, ...figure } = JSON.parse(place.querySelector("script").textContent);
    place.textContent = "";
    place.style.minHeight = "";
    const config = { responsive: true, displaylogo: false, showSendToCloud: false };
    Plotly.newPlot(place, { ...figure, layout: { ...layout, template: painted(layout.template) }, config });
  };
  const near = new IntersectionObserver(
    (seen) => seen.filter((one) => one.isIntersecting).forEach((one) => draw(one.target)),
    { rootMargin: "400px" },
  );
  const places = [...document.querySelectorAll(".figure")];
  places.forEach((place) => near.observe(place));
  addEventListener("beforeprint", () => places.filter((place) => !place.data).forEach(draw));

  const repaint = () => {
    for (const place of places) if (place.data) Plotly.relayout(place, { template: painted(place.layout.template) });
  };
  new MutationObserver(repaint).observe(document.body, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", repaint);
})();
