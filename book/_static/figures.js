// Figures follow the book's light, dark or automatic scheme: only the template changes, a colour set in a figure stays.
(() => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => {
    const chosen = document.body.dataset.theme;
    return chosen === "dark" || (chosen !== "light" && system.matches);
  };
  const paint = () => {
    const [ink, line] = isDark() ? ["#d5dae1", "#3b424c"] : ["#24292f", "#dde1e6"];
    const axis = { gridcolor: line, linecolor: line, zerolinecolor: line };
    for (const plot of document.querySelectorAll(".js-plotly-plot")) {
      const template = plot.layout?.template ?? {};
      const layout = template.layout ?? {};
      const painted = {
        ...layout,
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        font: { ...layout.font, color: ink },
        xaxis: { ...layout.xaxis, ...axis },
        yaxis: { ...layout.yaxis, ...axis },
      };
      Plotly.relayout(plot, { template: { ...template, layout: painted } });
    }
  };
  new MutationObserver(paint).observe(document.body, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", paint);
  window.addEventListener("load", paint);
})();
