// A panel that computes in the page, in a notebook. listen.js stands above, and `mount`, the panel's own function.

async function render({ model, el }) {
  listen(model);
  const place = el.appendChild(document.createElement("div"));
  place.className = "cselab-page";
  const told = (state) => {
    model.set("shown", state);
    model.save_changes();
  };
  // @ts-expect-error: `mount` is set above this file
  const shown = mount(place, model.get("shown"), told, model.get("carried"));
  const changed = () => shown.update(model.get("shown"));
  model.on("change:shown", changed);
  return () => {
    model.off("change:shown", changed);
    shown.stop();
  };
}

export default { render };
