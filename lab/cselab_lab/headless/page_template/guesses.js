// Guesses typed into a page: what lies after one, up to its mark, is folded until each was made, or `show` was pressed.
(() => {
  /** The elements after `start` and before `end`, as large as they come. @param {Element} start @param {Element} end */
  const between = (start, end) => {
    const found = [];
    let node = /** @type {any} */ (start);
    for (;;) {
      while (!node.nextElementSibling) node = node.parentElement;
      node = node.nextElementSibling;
      while (node !== end && node.contains(end)) node = node.firstElementChild;
      if (node === end) return found;
      found.push(node);
    }
  };

  /** @param {HTMLFormElement} form */
  const start = (form) => {
    const { found: written, until } = /** @type {any} */ (form.dataset);
    const found = JSON.parse(written);
    const folded = between(form, /** @type {Element} */ (document.getElementById(until)));
    const [said, show] = ["[role=status]", "button[type=button]"].map((one) => /** @type {Element} */ (form.querySelector(one)));
    folded.forEach((one) => one.classList.add("cselab-folded"));
    form.hidden = false;

    /** @param {string} name */
    const given = (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(`guess.${name}`));
    const compare = () => {
      const told = found.map((one) => comparedGuess(given(one.name).value, one));
      const lines = told.map(({ line, verdict }) => {
        const row = document.createElement("div");
        const good = verdict === "right" || verdict === "close";
        row.className = good ? "cselab-good" : "";
        row.textContent = `${good ? "✓" : "•"} ${line}`;
        return row;
      });
      said.replaceChildren(...lines);
      if (told.some(({ verdict }) => !verdict)) return;
      form.classList.add("cselab-guessed");
      folded.forEach((one) => one.classList.remove("cselab-folded"));
      form.dispatchEvent(new Event("guessed", { bubbles: true }));
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      compare();
    });
    show.addEventListener("click", () => {
      for (const one of found) if (!comparedGuess(given(one.name).value, one).verdict) given(one.name).value = "show";
      compare();
    });
  };

  /** What a run measured answers the guesses: folded until all were made. */
  const foldWhatWasMeasured = () => {
    const headings = [...document.querySelectorAll("h2, h3")];
    const at = headings.findIndex((heading) => heading.textContent?.startsWith("Measured in this run"));
    if (at < 0) return;
    const main = /** @type {Element} */ (document.querySelector("main"));
    const folded = between(headings[at], headings[at + 1] ?? main.appendChild(document.createElement("div")));
    const why = document.createElement("p");
    why.textContent = "These numbers answer the guesses of this page: they stay folded until all are made.";
    headings[at].after(why);
    folded.forEach((one) => one.classList.add("cselab-folded"));
    document.addEventListener("guessed", () => {
      if (document.querySelector("form.cselab-guess:not(.cselab-guessed)")) return;
      folded.forEach((one) => one.classList.remove("cselab-folded"));
      why.remove();
    });
  };

  const all = () => {
    const forms = /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form.cselab-guess"));
    forms.forEach(start);
    if (forms.length) foldWhatWasMeasured();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
  else all();
})();
