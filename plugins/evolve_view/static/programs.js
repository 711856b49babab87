// Keys of a program's page: a key that a link names opens it, where nothing has the focus that has a use for the key itself.
"use strict";
(function () {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const at = event.target;
    if (at instanceof Element && at.closest("input, textarea, select, [tabindex='0'], dialog[open]")) return;
    const link = document.querySelector(`[data-step="${CSS.escape(event.key)}"]`);
    if (link) {
      event.preventDefault();
      link.click();
    }
  });
})();
