// anywidget (0.11) gives a widget two seconds to load. Later, as on a busy page, it drops all that Python says to it from
// then on, for good. Such a widget is made to listen, and asks for what it missed.
async function listen(model) {
  const own = await model.widget_manager.get_model(model.get("own_id"));
  try {
    await own._handle_comm_msg({ content: { data: { method: "are you there" } } });
  } catch {
    const heard = Object.getPrototypeOf(Object.getPrototypeOf(own))._handle_comm_msg;
    own.comm.on_msg((message) => heard.call(own, message));
    own.comm.send({ method: "request_state" }, own.callbacks());
  }
}
