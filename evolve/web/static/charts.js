// Draws what the server says at the address in `data-chart`: series over one axis, and levels as dashed lines with their names.
"use strict";
(function () {
  const HEIGHT = 280;
  const LOW = 160;
  const drawn = new Map();

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function short(value) {
    const size = Math.abs(value);
    if (size >= 1e9) return `${+(value / 1e9).toPrecision(4)} G`;
    if (size >= 1e6) return `${+(value / 1e6).toPrecision(4)} M`;
    if (size >= 1e4) return `${+(value / 1e3).toPrecision(4)} k`;
    return String(+value.toPrecision(6));
  }

  // As many digits as tell neighbouring ticks from one another.
  function ticks(_, values) {
    const step = values.length > 1 ? Math.abs(values[1] - values[0]) : 0;
    const digits = step > 0 ? Math.max(0, Math.min(12, Math.ceil(-Math.log10(step) - 1e-9))) : 0;
    return values.map((value) => (Math.abs(value) >= 1e4 ? short(value) : value.toFixed(digits)));
  }

  // As wide as its longest number.
  function wide(_, values) {
    const longest = Math.max(1, ...(values || []).map((value) => value.length));
    return Math.min(24 + 7 * longest, 160);
  }

  function joined(series) {
    if (series.length === 1) return [series[0].x, series[0].y];
    return uPlot.join(series.map((one) => [one.x, one.y]));
  }

  // The levels that are near enough to what is drawn for both to be seen.
  function near(chart) {
    const values = chart.series.flatMap((one) => one.y).filter((value) => value !== null);
    if (!values.length) return chart.levels;
    const low = Math.min(...values);
    const high = Math.max(...values);
    const room = Math.max(high - low, Math.abs(high) * 1e-3, 1e-12) * 1.5;
    return chart.levels.filter((level) => level.value >= low - room && level.value <= high + room);
  }

  function levels(chart, shown) {
    return (plot) => {
      const pen = plot.ctx;
      const box = plot.bbox;
      const ratio = devicePixelRatio;
      pen.save();
      pen.font = `${11 * ratio}px system-ui, sans-serif`;
      pen.textAlign = "right";
      pen.textBaseline = "bottom";
      pen.lineWidth = ratio;
      let last = Infinity;
      const places = shown.map((level) => [plot.valToPos(level.value, "y", true), level]);
      places.sort((one, other) => other[0] - one[0]);
      for (const [y, level] of places) {
        if (y < box.top || y > box.top + box.height) continue;
        if (level.low !== null && level.high !== null) {
          const top = Math.max(plot.valToPos(level.high, "y", true), box.top);
          const bottom = Math.min(plot.valToPos(level.low, "y", true), box.top + box.height);
          pen.globalAlpha = 0.18;
          pen.fillStyle = colour("--c1");
          pen.fillRect(box.left, top, box.width, bottom - top);
          pen.globalAlpha = 1;
        }
        pen.strokeStyle = colour("--soft");
        pen.setLineDash([4 * ratio, 4 * ratio]);
        pen.beginPath();
        pen.moveTo(box.left, y);
        pen.lineTo(box.left + box.width, y);
        pen.stroke();
        const text = y + 2 * ratio > last - 12 * ratio ? last - 13 * ratio : y - 2 * ratio;
        last = text;
        pen.fillStyle = colour("--soft");
        const label = `${level.name} ${+level.value.toPrecision(chart.digits)}`;
        pen.fillText(label.length > 70 ? `${label.slice(0, 69)}…` : label, box.left + box.width - 4 * ratio, text);
      }
      pen.restore();
    };
  }

  function options(place, chart) {
    const shown = near(chart);
    const axis = { stroke: () => colour("--soft"), grid: { stroke: () => colour("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", labelSize: 20, values: ticks };
    const lines = chart.series.map((one, number) => ({
      label: one.name.length > 60 ? `${one.name.slice(0, 59)}…` : one.name,
      stroke: () => colour(`--c${(number % 8) + 1}`),
      width: one.marks ? 0 : 2,
      paths: one.marks ? () => null : one.step ? uPlot.paths.stepped({ align: 1 }) : undefined,
      points: { show: one.marks || one.x.length < 3, size: 6, fill: () => colour(`--c${(number % 8) + 1}`) },
      spanGaps: true,
      value: (_, value) => (value === null || value === undefined ? "" : String(+value.toPrecision(chart.digits))),
    }));
    const reach = (_, low, high) => {
      const all = [low, high, ...shown.flatMap((level) => [level.value, level.low, level.high])].filter((value) => value !== null && Number.isFinite(value));
      if (!all.length) return [0, 1];
      const bottom = Math.min(...all);
      const top = Math.max(...all);
      const flat = top - bottom <= Math.abs(top) * 1e-9;
      const room = flat ? Math.abs(top) * 0.05 || 1 : (top - bottom) * 0.08;
      return [place.classList.contains("low") ? Math.min(0, bottom) : bottom - room, top + room];
    };
    return {
      width: Math.max(place.clientWidth, 200),
      height: place.classList.contains("low") ? LOW : HEIGHT,
      scales: { x: { time: false }, y: { range: reach } },
      axes: [{ ...axis, label: chart.x, size: 32 }, { ...axis, label: chart.y, size: wide }],
      series: [{ label: chart.x, value: (_, value) => (value === null ? "" : short(value)) }, ...lines],
      cursor: { drag: { x: true, y: false } },
      hooks: { draw: [levels(chart, shown)] },
    };
  }

  function draw(place, chart) {
    const old = drawn.get(place);
    const empty = !chart.series.some((one) => one.x.length);
    const shape = JSON.stringify([chart.x, chart.y, chart.levels, chart.series.map((one) => [one.name, one.x.length < 3])]);
    if (old && old.shape === shape && !empty) {
      old.plot.setData(joined(chart.series));
      return;
    }
    if (old) old.plot.destroy();
    drawn.delete(place);
    const canvas = place.querySelector(".canvas");
    canvas.replaceChildren();
    if (empty) {
      const none = document.createElement("p");
      none.className = "none";
      none.textContent = "Nothing to draw yet.";
      canvas.append(none);
      return;
    }
    drawn.set(place, { shape, plot: new uPlot(options(place, chart), joined(chart.series), canvas) });
  }

  function address(place) {
    const found = new URL(place.dataset.chart, location.href);
    if (place.dataset.x) found.searchParams.set("x", place.dataset.x);
    return found;
  }

  async function load(place) {
    const answer = await fetch(address(place), { headers: { accept: "application/json" } });
    const chart = answer.ok ? await answer.json() : null;
    if (chart && chart.opening !== undefined) setTimeout(() => load(place), 1000);
    else if (chart) draw(place, chart);
  }

  function choices(place) {
    const names = (place.dataset.choices || "").split(" ").filter(Boolean);
    if (names.length < 2) return;
    const group = document.createElement("div");
    group.className = "switch";
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", place.dataset.said || "against");
    for (const name of names) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.setAttribute("aria-pressed", String(name === (place.dataset.x || names[0])));
      button.addEventListener("click", () => {
        place.dataset.x = name;
        for (const other of group.children) other.setAttribute("aria-pressed", String(other === button));
        load(place);
      });
      group.append(button);
    }
    place.append(group);
  }

  function begin(place) {
    if (place.dataset.begun) return;
    place.dataset.begun = "yes";
    choices(place);
    const canvas = document.createElement("div");
    canvas.className = "canvas";
    place.append(canvas);
    new ResizeObserver(() => {
      const found = drawn.get(place);
      const width = Math.max(place.clientWidth, 200);
      if (found && Math.abs(found.plot.width - width) > 1) found.plot.setSize({ width, height: found.plot.height });
    }).observe(place);
  }

  function all() {
    for (const place of document.querySelectorAll("[data-chart]")) {
      begin(place);
      load(place);
    }
  }

  all();
  document.addEventListener("htmx:afterSettle", all);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const { plot } of drawn.values()) plot.redraw(false, true);
  });
})();
