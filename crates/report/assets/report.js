// Draws the charts of a report from the JSON in the page. Tables need none of this.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const root = document.documentElement;
  root.dataset.charts = String(charts.length);
  if (charts.length === 0) return;

  // Colours that stay apart in every kind of colour vision; marks and dashes tell them apart as well.
  const COLOURS = {
    light: ["#0067a5", "#c2500a", "#00805c", "#a0428c", "#8a6d00", "#3a9bd1", "#7b2d4b", "#5a6068"],
    dark: ["#6cb6f2", "#f58b4c", "#3fc79a", "#dd92cc", "#d8b83a", "#a3d4f5", "#d584a2", "#b4bcc4"],
  };
  const MARKS = ["circle", "rect", "triangle", "rectRot", "star", "crossRot"];
  const DASHES = [[], [6, 3], [2, 3]];
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let paper = false;

  const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const colour = (number) => COLOURS[dark.matches && !paper ? "dark" : "light"][number % 8];

  const SCALES = {
    ns: [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]],
    "bit/s": [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]],
    B: [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]],
    "/s": [[1e6, "M/s"], [1e4, "k/s", 1e3], [1, "/s"]],
  };

  // A value with its unit; `digits` significant ones, without zeros at the end where `short`; in the unit that `size` reads
  // best in.
  function text(value, unit, digits, short, size = Math.abs(value)) {
    if (unit === "ratio") return `${trim(value * 100, digits, short)} %`;
    const scales = SCALES[unit];
    if (!scales || value === 0) return trim(value, digits, short);
    const [from, name, by] = scales.find(([from]) => size >= from * 0.9995) || scales[scales.length - 1];
    return `${trim(value / (by || from), digits, short)} ${name}`;
  }

  function trim(value, digits, short) {
    const size = Math.abs(value);
    if (size >= 10 ** digits) return value.toFixed(0);
    const fixed = size === 0 ? "0" : value.toFixed(Math.max(0, digits - 1 - Math.max(0, Math.floor(Math.log10(size)))));
    return short && fixed.includes(".") ? fixed.replace(/\.?0+$/, "") : fixed;
  }

  // An end of an interval beyond ten times the value, or below a tenth of it, says nothing but that.
  function around(y, low, high, unit) {
    const least = low > 0 && low < y / 10 ? `< ${text(y / 10, unit, 4)}` : text(low, unit, 4);
    const most = y > 0 && high > y * 10 ? `> ${text(y * 10, unit, 4)}` : text(high, unit, 4);
    return ` [${least}, ${most}]`;
  }

  const label = (name, point, unit) => {
    const [, y, low, high] = point;
    const ends = low === null || low === high ? "" : around(y, low, high, unit);
    return `${name}: ${text(y, unit, 4)}${ends}`;
  };

  function position(chart, x) {
    const tick = chart.x.ticks.find(([at]) => at === x);
    if (tick) return chart.x.unit === "nines" ? tick[1] : `${chart.x.label} ${tick[1]}`;
    if (chart.x.unit !== "nines") return `${chart.x.label} ${x}`;
    return `${(100 * (1 - 10 ** -x)).toFixed(Math.ceil(x) + 1)} %`;
  }

  // On a logarithmic axis: 1, 2 and 5 of every decade where there are few, else the decades.
  function decades(axis) {
    const span = Math.log10(axis.max / axis.min);
    const keep = span > 3.2 ? [1] : [1, 2, 5];
    const ticks = [];
    for (let power = Math.floor(Math.log10(axis.min)); power <= Math.ceil(Math.log10(axis.max)); power += 1) {
      for (const lead of keep) {
        const value = lead * 10 ** power;
        if (value >= axis.min * 0.999 && value <= axis.max * 1.001) ticks.push({ value });
      }
    }
    if (ticks.length >= 2) axis.ticks = ticks;
  }

  // The text of a tick. On a linear axis all are in one unit, so that they can be compared at a glance.
  const tick = (unit, log) => function (value) { return text(value, unit, 3, true, log ? undefined : this.max); };

  // Whether any value has an interval: one round has none, and whiskers without length would look like one.
  const spread = (chart) => chart.series.some((series) => series.points.some(([, , low]) => low !== null));

  // Where an end of an interval is drawn: the values have the room, and not their intervals.
  const drawnAt = (chart, end) => (chart.y.cut ? Math.min(Math.max(end, chart.y.cut[0]), chart.y.cut[1]) : end);

  function axes() {
    return { grid: { color: style("--line") }, ticks: { color: style("--quiet") }, border: { color: style("--line") } };
  }

  // A line that is no measured point's: a fit, a limit.
  const drawn = (series) => series.style === "fit" || series.style === "limit";

  function line(chart) {
    const unit = chart.y.unit;
    const marked = chart.x.unit !== "nines";
    const datasets = chart.series.map((series) => ({
      label: series.name,
      data: series.points.map(([x, y, low, high]) => ({ x, y, yMin: drawnAt(chart, low ?? y), yMax: drawnAt(chart, high ?? y) })),
      points: series.points,
      colour: series.colour,
      borderWidth: 2,
      borderDash: series.style === "limit" ? [8, 5] : DASHES[Math.floor(series.colour / 8) % 3],
      pointStyle: series.style === "mark" ? "circle" : marked && !drawn(series) ? MARKS[series.colour % MARKS.length] : "line",
      pointRadius: !marked || drawn(series) ? 0 : series.style === "mark" ? 10 : 4,
      pointBackgroundColor: series.style === "mark" ? "transparent" : undefined,
      pointHoverRadius: 6,
      showLine: series.style !== "points" && series.style !== "mark",
      fit: series.style === "fit",
      mark: series.style === "mark",
      tension: 0,
    }));
    const last = Math.max(...chart.series.flatMap((series) => series.points.map(([x]) => x)));
    const own = chart.x.ticks.map(([value, name]) => ({ value, label: name })).filter(({ value }) => value <= last);
    const names = new Map(chart.x.ticks);
    return {
      type: marked && spread(chart) ? "lineWithErrorBars" : "line",
      data: { datasets },
      options: {
        interaction: { mode: "nearest", axis: "x", intersect: false },
        plugins: {
          legend: {
            display: chart.series.length > 1,
            labels: { usePointStyle: true, boxHeight: 7, color: style("--ink"), filter: (item, data) => !data.datasets[item.datasetIndex].fit },
          },
          tooltip: {
            filter: (item) => !item.dataset.fit && !item.dataset.mark,
            callbacks: {
              title: (items) => (items.length ? position(chart, items[0].parsed.x) : ""),
              label: (item) => label(item.dataset.label, item.dataset.points[item.dataIndex], unit),
            },
          },
        },
        scales: {
          x: {
            ...axes(),
            type: chart.x.log ? "logarithmic" : "linear",
            max: marked ? undefined : last,
            title: { display: true, text: chart.x.label, color: style("--quiet") },
            afterBuildTicks: (axis) => { if (own.length) axis.ticks = own; },
            ticks: { color: style("--quiet"), autoSkip: true, maxRotation: 45, callback: (value) => names.get(value) ?? value },
          },
          y: {
            ...axes(),
            type: chart.y.log ? "logarithmic" : "linear",
            beginAtZero: !chart.y.log,
            title: { display: true, text: chart.y.label, color: style("--quiet") },
            afterBuildTicks: (axis) => { if (chart.y.log) decades(axis); },
            ticks: { color: style("--quiet"), callback: tick(unit, chart.y.log) },
          },
        },
      },
    };
  }

  function bar(chart) {
    const unit = chart.y.unit;
    const datasets = chart.series.map((series) => ({
      label: series.name,
      data: series.points.map(([at, y, low, high]) => ({ x: y, y: chart.categories[at], xMin: drawnAt(chart, low ?? y), xMax: drawnAt(chart, high ?? y) })),
      points: series.points,
      colour: series.colour,
      filled: true,
      maxBarThickness: 26,
      stack: chart.stacked ? "all" : undefined,
    }));
    return {
      // Error bars of parts that stand on each other would say nothing.
      type: !chart.stacked && spread(chart) ? "barWithErrorBars" : "bar",
      data: { labels: chart.categories, datasets },
      options: {
        indexAxis: "y",
        plugins: {
          legend: { display: chart.series.length > 1, labels: { boxHeight: 7, boxWidth: 14, color: style("--ink") } },
          tooltip: { callbacks: { label: (item) => label(item.dataset.label, item.dataset.points[item.dataIndex], unit) } },
        },
        scales: {
          x: {
            ...axes(),
            stacked: chart.stacked,
            beginAtZero: true,
            ticks: { color: style("--quiet"), maxTicksLimit: 5, maxRotation: 0, callback: tick(unit, false) },
          },
          y: { ...axes(), stacked: chart.stacked, grid: { display: false }, ticks: { color: style("--ink"), autoSkip: false } },
        },
      },
    };
  }

  // The intervals of the parts of a bar, around their ends. The library draws none on bars that do not begin at 0.
  const whiskers = (chart) => ({
    id: "whiskers",
    afterDatasetsDraw(drawn) {
      const { ctx } = drawn;
      ctx.save();
      ctx.strokeStyle = style("--ink");
      ctx.lineWidth = 1.5;
      let seen = 0;
      chart.series.forEach((series, index) => {
        if (!drawn.isDatasetVisible(index)) return;
        series.points.forEach(([, , low, high], n) => {
          if (low === null || low === high) return;
          const { y } = drawn.getDatasetMeta(index).data[n];
          const [from, to] = [low, high].map((end) => drawn.scales.x.getPixelForValue(drawnAt(chart, series.starts[n] + end)));
          // Those of neighbours would lie on each other.
          const at = y - 6 + 4 * (index % 4);
          ctx.beginPath();
          ctx.moveTo(from, at);
          ctx.lineTo(to, at);
          for (const end of [from, to]) {
            ctx.moveTo(end, at - 3);
            ctx.lineTo(end, at + 3);
          }
          ctx.stroke();
          seen += 1;
        });
      });
      ctx.restore();
      drawn.canvas.dataset.whiskers = String(seen);
    },
  });

  // Parts of a bar that begin where the one before ends; what takes something away stands on the other side of 0.
  function waterfall(chart) {
    const unit = chart.y.unit;
    const datasets = chart.series.map((series) => ({
      label: series.name,
      data: series.points.map(([at, added], n) => ({ x: [series.starts[n], series.starts[n] + added], y: chart.categories[at] })),
      points: series.points,
      colour: series.colour,
      filled: true,
      grouped: false,
      maxBarThickness: 26,
    }));
    const config = bar({ ...chart, series: [] });
    config.type = "bar";
    config.data.datasets = datasets;
    config.options.scales.x.stacked = false;
    config.options.scales.y.stacked = false;
    config.options.interaction = { mode: "y", intersect: false };
    config.options.plugins.legend.display = true;
    config.plugins = [whiskers(chart)];
    // Room for the intervals.
    const ends = chart.series.flatMap((series) => series.points.flatMap(([, y, low, high], n) =>
      [y, low ?? y, high ?? y].map((end) => drawnAt(chart, series.starts[n] + end))));
    config.options.scales.x.suggestedMin = Math.min(0, ...ends);
    config.options.scales.x.suggestedMax = Math.max(0, ...ends);
    return config;
  }

  function paint(config) {
    for (const dataset of config.data.datasets) {
      const own = colour(dataset.colour);
      dataset.borderColor = own;
      dataset.backgroundColor = own;
      dataset.errorBarColor = dataset.filled ? style("--ink") : own;
      dataset.errorBarWhiskerColor = dataset.errorBarColor;
      dataset.errorBarLineWidth = 1.5;
      dataset.errorBarWhiskerLineWidth = 1.5;
      dataset.errorBarWhiskerSize = 7;
    }
    return config;
  }

  function draw(chart) {
    const canvas = document.getElementById(chart.id);
    const box = canvas.parentElement;
    if (chart.kind !== "line") box.style.height = `${90 + 34 * chart.categories.length}px`;
    const config = paint({ bar, line, waterfall }[chart.kind](chart));
    Object.assign(config.options, { animation: false, responsive: true, maintainAspectRatio: false });
    const drawn = new Chart(canvas, config);
    canvas.dataset.drawn = String(drawn.getVisibleDatasetCount());
    return drawn;
  }

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  let all = [];
  function drawAll() {
    all.forEach((chart) => chart.destroy());
    all = charts.map(draw);
    root.dataset.drawn = String(all.length);
  }
  drawAll();
  dark.addEventListener("change", drawAll);

  // Paper is light, and narrower than the window was.
  window.addEventListener("beforeprint", () => {
    paper = true;
    drawAll();
    all.forEach((chart) => chart.resize(Math.min(chart.width, 480), chart.height));
  });
  window.addEventListener("afterprint", () => {
    paper = false;
    drawAll();
  });
})();

// Unfolds what is folded away: where a link leads to, and on paper.
(() => {
  function reveal() {
    const part = document.getElementById(location.hash.slice(1));
    if (!part) return;
    for (let at = part; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    part.scrollIntoView();
  }
  reveal();
  window.addEventListener("hashchange", reveal);

  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((part) => { part.open = true; });
  });
  window.addEventListener("afterprint", () => {
    folded.forEach((part) => { part.open = false; });
    folded = [];
  });
})();
