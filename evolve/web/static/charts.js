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

  // As many digits as the distance of two ticks has: 0.0, 2.5, 5.0.
  function ticks(_, values) {
    const step = values.length > 1 ? Math.abs(values[1] - values[0]) : 0;
    const most = Math.max(...values.map(Math.abs));
    const [unit, name] = most < 1e4 || step < most * 1e-4 ? [1, ""] : most < 1e6 ? [1e3, " k"] : most < 1e9 ? [1e6, " M"] : [1e9, " G"];
    let digits = 0;
    while (digits < 15 && Math.abs((step / unit).toFixed(digits) - step / unit) > 1e-9 * (step / unit)) digits += 1;
    return values.map((value) => (value === 0 ? "0" : (value / unit).toFixed(digits) + name));
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

  // What differs beyond the task's digits does not differ.
  function same(low, high, chart) {
    return high - low <= Math.abs(high) * 10 ** -chart.digits;
  }

  // The levels that are near enough to what is drawn for both to be seen.
  function near(chart) {
    const values = chart.series.flatMap((one) => one.y).filter((value) => value !== null);
    if (!values.length) return chart.levels;
    const low = Math.min(...values);
    const high = Math.max(...values);
    const room = same(low, high, chart) ? Math.abs(high) * 0.05 : (high - low) * 1.5;
    return chart.levels.filter((level) => level.value >= low - room && level.value <= high + room);
  }

  // One line for those of one value, the lowest first.
  function grouped(shown, chart) {
    const found = new Map();
    for (const level of shown) {
      const value = String(+level.value.toPrecision(chart.digits));
      const before = found.get(value);
      if (before) before.name = `${before.name}, ${level.name}`;
      else found.set(value, { ...level, said: value });
      if (before && before.low === null) Object.assign(before, { low: level.low, high: level.high });
    }
    return [...found.values()].sort((one, other) => one.value - other.value);
  }

  // Names stand above their lines; where lines lie too near each other, one above the other, and all of them inside the box.
  function spread(places, box, height) {
    const found = places.map((y) => y);
    for (let at = 1; at < found.length; at++) found[at] = Math.min(found[at], found[at - 1] - height);
    let least = box.top + height;
    for (let at = found.length - 1; at >= 0; at--) {
      found[at] = Math.max(found[at], least);
      least = found[at] + height;
    }
    return found;
  }

  function fitting(pen, name, value, width) {
    let text = name;
    while (text.length > 1 && pen.measureText(`${text}… ${value}`).width > width) text = text.slice(0, -1);
    return text === name ? `${name} ${value}` : `${text}… ${value}`;
  }

  function band(pen, plot, level) {
    const { left, top, width, height } = plot.bbox;
    const begin = Math.max(plot.valToPos(level.high, "y", true), top);
    const end = Math.min(plot.valToPos(level.low, "y", true), top + height);
    pen.globalAlpha = 0.18;
    pen.fillStyle = colour("--c1");
    pen.fillRect(left, begin, width, end - begin);
    pen.globalAlpha = 1;
  }

  function levels(chart, shown) {
    return (plot) => {
      const pen = plot.ctx;
      const box = plot.bbox;
      const ratio = devicePixelRatio;
      const inside = (y) => y >= box.top && y <= box.top + box.height;
      const all = grouped(shown, chart).filter((level) => inside(plot.valToPos(level.value, "y", true)));
      const lines = all.map((level) => plot.valToPos(level.value, "y", true));
      const texts = spread(lines.map((y) => y - 2 * ratio), box, 13 * ratio);
      pen.save();
      pen.font = `${11 * ratio}px system-ui, sans-serif`;
      pen.textAlign = "right";
      pen.textBaseline = "bottom";
      pen.setLineDash([4 * ratio, 4 * ratio]);
      all.forEach((level, at) => {
        if (level.low !== null && level.high !== null) band(pen, plot, level);
        pen.lineWidth = ratio;
        pen.strokeStyle = colour("--soft");
        pen.beginPath();
        pen.moveTo(box.left, lines[at]);
        pen.lineTo(box.left + box.width, lines[at]);
        pen.stroke();
      });
      pen.setLineDash([]);
      all.forEach((level, at) => {
        const label = fitting(pen, level.name.slice(0, 120), level.said, Math.min(box.width - 8 * ratio, 480 * ratio));
        const wide = pen.measureText(label).width;
        pen.fillStyle = colour("--raised");
        pen.globalAlpha = 0.85;
        pen.fillRect(box.left + box.width - wide - 6 * ratio, texts[at] - 12 * ratio, wide + 4 * ratio, 12 * ratio);
        pen.globalAlpha = 1;
        pen.fillStyle = colour("--soft");
        pen.fillText(label, box.left + box.width - 4 * ratio, texts[at]);
      });
      pen.restore();
    };
  }

  // What the legend says of a series: at the mouse, or while there is none, at the end.
  function at(plot, value, series, place, steps) {
    const values = plot.data[series];
    let found = value;
    for (let back = (place ?? values.length) - 1; (place === null || steps) && back >= 0 && (found ?? null) === null; back--) found = values[back];
    return found ?? null;
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
      value: (plot, value, series, place) => {
        const found = at(plot, value, series, place, one.step);
        return found === null ? "" : String(+found.toPrecision(chart.digits));
      },
    }));
    const reach = (_, low, high) => {
      const all = [low, high, ...shown.flatMap((level) => [level.value, level.low, level.high])].filter((value) => value !== null && Number.isFinite(value));
      if (!all.length) return [0, 1];
      const bottom = Math.min(...all);
      const top = Math.max(...all);
      const room = same(bottom, top, chart) ? Math.abs(top) * 0.05 || 1 : (top - bottom) * 0.08;
      return [place.classList.contains("low") ? Math.min(0, bottom) : bottom - room, top + room];
    };
    return {
      width: Math.max(place.clientWidth, 200),
      height: place.classList.contains("low") ? LOW : HEIGHT,
      scales: { x: { time: false }, y: { range: reach } },
      axes: [{ ...axis, label: chart.x, size: 32 }, { ...axis, label: chart.y, size: wide }],
      series: [{ label: chart.x, value: (plot, value, series, place) => short(at(plot, value, series, place, false)) }, ...lines],
      cursor: { drag: { x: true, y: false } },
      hooks: { draw: [levels(chart, shown)], ready: [says], setData: [says] },
    };
  }

  function says(plot) {
    plot.setLegend({ idx: plot.cursor.idx ?? null });
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
