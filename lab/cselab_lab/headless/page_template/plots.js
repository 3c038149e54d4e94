// Figures follow the reader's light or dark scheme: only the template changes, so a colour set in a figure stays.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => {
    const [ink, line] = dark.matches ? ["#d5dae1", "#3b424c"] : ["#24292f", "#dde1e6"];
    const axis = { gridcolor: line, linecolor: line, zerolinecolor: line };
    for (const plot of document.querySelectorAll(".figure .js-plotly-plot")) {
      const template = plot.layout.template ?? {};
      const layout = template.layout ?? {};
      const painted = {
        ...layout,
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        font: { ...layout.font, color: ink },
        modebar: { bgcolor: "rgba(0,0,0,0)", color: line, activecolor: ink },
        xaxis: { ...layout.xaxis, ...axis },
        yaxis: { ...layout.yaxis, ...axis },
      };
      Plotly.relayout(plot, { template: { ...template, layout: painted } });
    }
  };
  dark.addEventListener("change", paint);
  paint();
})();
