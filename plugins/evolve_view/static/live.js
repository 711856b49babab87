// Parts of a page that come anew while a campaign runs: who reads, selects or writes in one is not disturbed.
"use strict";
(function () {
  const BOXES = ".scroll, .map-box, .code, pre";
  const kept = new Map();

  function isBusy(part) {
    const selection = getSelection();
    if (selection && !selection.isCollapsed && selection.rangeCount && selection.getRangeAt(0).intersectsNode(part)) return true;
    const at = document.activeElement;
    return (at && part.contains(at) && at.matches("input:not([type=checkbox]), textarea, select")) || part.closest(".moving") !== null;
  }

  // What a person has done to it: boxes that were scrolled, parts that were opened, the link that has the focus.
  function keep(part) {
    const at = document.activeElement;
    kept.set(part.id, {
      boxes: Array.from(part.querySelectorAll(BOXES), (box) => [box.scrollLeft, box.scrollTop]),
      details: Array.from(part.querySelectorAll("details"), (one) => one.open),
      link: at && !at.id && part.contains(at) ? at.getAttribute("href") : null,
    });
  }

  function restore() {
    for (const [id, was] of kept) {
      const part = document.getElementById(id);
      if (!part) continue;
      part.querySelectorAll("details").forEach((one, at) => { if (at in was.details) one.open = was.details[at]; });
      part.querySelectorAll(BOXES).forEach((box, at) => { if (at in was.boxes) [box.scrollLeft, box.scrollTop] = was.boxes[at]; });
      const link = was.link && Array.from(part.querySelectorAll("a[href]")).find((one) => one.getAttribute("href") === was.link);
      if (link) link.focus({ preventScroll: true });
    }
    kept.clear();
  }

  document.addEventListener("htmx:beforeSwap", (event) => {
    const part = event.detail.target;
    if (part.id !== "live") return;
    if (isBusy(part)) event.detail.shouldSwap = false;
    else keep(part);
  });
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const part = event.detail.target;
    const fresh = event.detail.fragment.firstElementChild;
    const isSame = part.innerHTML !== "" && fresh && fresh.innerHTML === part.innerHTML;
    if (isSame || isBusy(part)) event.detail.shouldSwap = false;
    else keep(part);
  });
  document.addEventListener("htmx:afterSwap", restore);
  document.addEventListener("htmx:oobAfterSwap", restore);
})();
