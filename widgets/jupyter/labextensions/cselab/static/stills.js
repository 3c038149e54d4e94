// JupyterLab (4.6) prints "model not found" for a widget whose kernel is gone, although the notebook holds a picture of it:
// this extension shows that picture. JupyterLab loads it as one built with webpack; it needs no build.

(() => {
  const WIDGET = "application/vnd.jupyter.widget-view+json";
  const MISSING = "Error displaying widget: model not found";

  function withStills(rendermime) {
    const create = rendermime.createRenderer.bind(rendermime);
    rendermime.createRenderer = (type) => {
      const shown = create(type);
      if (type !== WIDGET) return shown;
      const render = shown.renderModel.bind(shown);
      shown.renderModel = async (model) => {
        await render(model);
        const { [WIDGET]: live, ...data } = model.data;
        const other = rendermime.preferredMimeType(data, model.trusted ? "any" : "ensure");
        if (shown.isDisposed || shown.node.textContent !== MISSING || !other) return;
        const still = create(other);
        await still.renderModel({ data, metadata: model.metadata, trusted: model.trusted, setData() {} });
        shown.node.textContent = "";
        shown.addWidget(still);
      };
      return shown;
    };
  }

  const plugin = {
    id: "cselab:stills",
    autoStart: true,
    activate(app) {
      app.docRegistry.addWidgetExtension("Notebook", { createNew: ({ content }) => withStills(content.rendermime) });
    },
  };
  window._JUPYTERLAB ??= {};
  window._JUPYTERLAB.cselab = { init() {}, get: async () => () => ({ __esModule: true, default: plugin }) };
})();
