// Keys: `/` to the search, `j` and `k` along a list, `g` and a letter to a page, arrows in a heat map, `?` for help.
"use strict";
(function () {
  let going = 0;

  function typing(target) {
    return target.closest("input, textarea, select, [contenteditable]") !== null;
  }

  function lines() {
    return Array.from(document.querySelectorAll("[data-list] a[data-line]"));
  }

  function step(by) {
    const all = lines();
    if (!all.length) return;
    const at = all.indexOf(document.activeElement);
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  function go(letter) {
    const found = letter === "i" ? document.querySelector("a.home") : document.querySelector(`nav [data-key="${CSS.escape(letter)}"]`);
    if (found) found.click();
  }

  function arrow(event) {
    const cell = event.target.closest("[data-x][data-y]");
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (!cell || !(event.key in moves)) return;
    event.preventDefault();
    const map = cell.closest("[data-heat]");
    const [dx, dy] = moves[event.key];
    let x = Number(cell.dataset.x) + dx;
    let y = Number(cell.dataset.y) + dy;
    // Over empty cells to the next one that has a program.
    while (x >= 0 && y >= 0 && x < Number(map.dataset.columns) && y < Number(map.dataset.rows)) {
      const next = map.querySelector(`a[data-x="${x}"][data-y="${y}"]`);
      if (next) {
        next.focus();
        return;
      }
      x += dx;
      y += dy;
    }
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
    if (typing(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (going && Date.now() - going < 1500) {
      going = 0;
      go(event.key);
      return;
    }
    going = 0;
    const search = document.getElementById("search");
    if (event.key === "/" && search) {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "g") going = Date.now();
    else if (event.key === "?") document.getElementById("keys").showModal();
    else arrow(event);
  }

  document.addEventListener("keydown", pressed);
  document.getElementById("show-keys").addEventListener("click", () => document.getElementById("keys").showModal());

  const tab = document.querySelector(".tabs [aria-current]");
  if (tab) tab.scrollIntoView({ inline: "center", block: "nearest" });

  // What had the focus before a live part was replaced has it afterwards.
  let focused = "";
  document.addEventListener("htmx:beforeSwap", () => {
    focused = document.activeElement ? document.activeElement.id : "";
  });
  document.addEventListener("htmx:afterSwap", () => {
    const found = focused && document.getElementById(focused);
    if (found && document.activeElement !== found) found.focus({ preventScroll: true });
  });

  // What was wrong is said until something goes well again.
  document.addEventListener("htmx:afterOnLoad", (event) => {
    if (event.detail.xhr.status < 400) document.getElementById("told").replaceChildren();
  });

  // Whatever chooses what a page shows does so at once.
  document.addEventListener("change", (event) => {
    const form = event.target instanceof Element && event.target.closest("form[data-auto]");
    if (form) form.requestSubmit();
  });
})();
