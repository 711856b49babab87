// Looking around in the lineage tree: drag or arrow keys move it, the buttons, + and - or the wheel with Ctrl zoom.
"use strict";
(function () {
  function begin(svg) {
    const whole = svg.viewBox.baseVal;
    const first = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
    const most = 64;
    const fingers = new Map();
    let moved = 0;

    function view() {
      return svg.viewBox.baseVal;
    }

    function place(x, y, width) {
      const size = Math.min(first.width, Math.max(first.width / most, width));
      const height = (size * first.height) / first.width;
      const left = Math.min(Math.max(x, first.x), first.x + first.width - size);
      const top = Math.min(Math.max(y, first.y), first.y + first.height - height);
      svg.setAttribute("viewBox", `${left} ${top} ${size} ${height}`);
    }

    // A point of the window in the units of the picture.
    function inside(clientX, clientY) {
      return new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
    }

    function zoom(by, at) {
      const now = view();
      const width = Math.min(first.width, Math.max(first.width / most, now.width / by));
      const share = width / now.width;
      const point = at || { x: now.x + now.width / 2, y: now.y + now.height / 2 };
      place(point.x - (point.x - now.x) * share, point.y - (point.y - now.y) * share, width);
    }

    function move(dx, dy) {
      const now = view();
      place(now.x + dx, now.y + dy, now.width);
    }

    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 300), inside(event.clientX, event.clientY));
    }, { passive: false });

    svg.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (fingers.size === 1) moved = 0;
    });

    function apart() {
      const [one, two] = [...fingers.values()];
      return { distance: Math.hypot(one.x - two.x, one.y - two.y), x: (one.x + two.x) / 2, y: (one.y + two.y) / 2 };
    }

    svg.addEventListener("pointermove", (event) => {
      const last = fingers.get(event.pointerId);
      if (!last) return;
      const before = fingers.size === 2 ? apart() : null;
      const from = inside(last.x, last.y);
      const to = inside(event.clientX, event.clientY);
      moved += Math.hypot(event.clientX - last.x, event.clientY - last.y);
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (before) {
        const after = apart();
        if (before.distance > 0) zoom(after.distance / before.distance, inside(after.x, after.y));
      } else if (moved > 4) {
        if (!svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
        svg.classList.add("moving");
        move(from.x - to.x, from.y - to.y);
      }
    });

    function released(event) {
      fingers.delete(event.pointerId);
      svg.classList.remove("moving");
    }
    svg.addEventListener("pointerup", released);
    svg.addEventListener("pointercancel", released);
    // What ends a move is no click on a program.
    svg.addEventListener("click", (event) => {
      if (moved > 4) event.preventDefault();
    }, true);
    svg.addEventListener("dragstart", (event) => event.preventDefault());

    const keys = {
      "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), "0": () => place(first.x, first.y, first.width),
      ArrowLeft: () => move(-view().width / 10, 0), ArrowRight: () => move(view().width / 10, 0),
      ArrowUp: () => move(0, -view().height / 10), ArrowDown: () => move(0, view().height / 10),
    };
    svg.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
      event.preventDefault();
      keys[event.key]();
    });
    for (const button of document.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => keys[button.dataset.zoom]());
    }
  }

  // The picture comes with the first program, which may be later than the page.
  function all() {
    const svg = document.querySelector(".tree svg");
    if (!svg || svg.dataset.begun) return;
    svg.dataset.begun = "yes";
    begin(svg);
  }

  all();
  document.addEventListener("htmx:oobAfterSwap", all);
})();
