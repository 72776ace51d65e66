"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const by = (id) => document.getElementById(id);
  const root = document.documentElement;

  function dress(dark) {
    root.dataset.theme = dark ? "dark" : "light";
    by("theme").setAttribute("aria-pressed", String(dark));
    by("theme").textContent = dark ? "Light" : "Dark";
  }
  const preferred = window.matchMedia("(prefers-color-scheme: dark)");
  dress(preferred.matches);
  preferred.addEventListener("change", (event) => dress(event.matches));
  by("theme").addEventListener("click", () => dress(root.dataset.theme !== "dark"));

  function confusion(cells, threshold) {
    const count = { tp: 0, fp: 0, tn: 0, fn: 0 };
    const limit = Math.log(threshold) - Math.log1p(-threshold);
    cells.score.forEach((logOdds, i) => {
      const yes = logOdds > limit;
      count[yes ? "tp" : "fn"] += cells.pos[i];
      count[yes ? "fp" : "tn"] += cells.neg[i];
    });
    return count;
  }

  function cost(count, fp, fn) {
    const n = count.tp + count.fp + count.tn + count.fn;
    return (fp * count.fp + fn * count.fn) / n;
  }

  function drawCost() {
    const fp = Number(by("cost-fp").value);
    const fn = Number(by("cost-fn").value);
    const threshold = fp / (fp + fn);
    const count = confusion(data.forecasts[data.best].cells, threshold);
    const positive = count.tp + count.fn;
    const negative = count.fp + count.tn;
    by("cost-fp-value").textContent = fp;
    by("cost-fn-value").textContent = fn;
    by("threshold").textContent = threshold.toFixed(4);
    for (const name of ["tp", "fp", "tn", "fn"]) by(name).textContent = count[name].toLocaleString("en");
    by("cost").textContent = cost(count, fp, fn).toFixed(5);
    by("cost-raw").textContent = cost(confusion(data.forecasts["as it is"].cells, threshold), fp, fn).toFixed(5);
    by("cost-same").textContent = (Math.min(fp * negative, fn * positive) / (positive + negative)).toFixed(5);
  }
  by("cost-fp").addEventListener("input", drawCost);
  by("cost-fn").addEventListener("input", drawCost);

  const CHOICES = [4, 5, 10, 20, 25, 40, 50, 100];

  function element(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function drawBins() {
    const n = CHOICES[Number(by("bins").value)];
    const fine = data.forecasts[by("bins-method").value].bins;
    const each = fine.pos.length / n;
    by("bins-value").textContent = n;
    const chart = by("bins-chart");
    chart.replaceChildren();
    const x = (p) => 35 + 290 * p;
    const y = (p) => 305 - 290 * p;
    for (const p of [0, 0.25, 0.5, 0.75, 1]) {
      chart.append(element("line", { x1: x(p), x2: x(p), y1: y(0), y2: y(1), stroke: "var(--line)" }));
      chart.append(element("line", { x1: x(0), x2: x(1), y1: y(p), y2: y(p), stroke: "var(--line)" }));
      chart.append(element("text", { x: x(p), y: 320, "text-anchor": "middle" }, p));
      chart.append(element("text", { x: 30, y: y(p) + 3, "text-anchor": "end" }, p));
    }
    chart.append(element("text", { x: 180, y: 335, "text-anchor": "middle" }, "predicted probability"));
    chart.append(element("line", { x1: x(0), y1: y(0), x2: x(1), y2: y(1), stroke: "var(--muted)" }));
    const total = fine.pos.reduce((sum, value, i) => sum + value + fine.neg[i], 0);
    let error = 0;
    const points = [];
    for (let bin = 0; bin < n; bin++) {
      let pos = 0;
      let neg = 0;
      let sum = 0;
      for (let i = bin * each; i < (bin + 1) * each; i++) {
        pos += fine.pos[i];
        neg += fine.neg[i];
        sum += fine.sum[i];
      }
      if (pos + neg === 0) continue;
      const share = pos / (pos + neg);
      const mean = sum / (pos + neg);
      error += (Math.abs(share - mean) * (pos + neg)) / total;
      points.push([x(mean), y(share)]);
      const dot = element("circle", { cx: x(mean), cy: y(share), r: 1.5 + 8 * Math.sqrt((pos + neg) / total), fill: "var(--accent)", "fill-opacity": 0.75 });
      dot.append(element("title", {}, `predicted ${mean.toFixed(3)}, observed ${share.toFixed(3)}, ${pos + neg} cases`));
      chart.append(dot);
    }
    chart.append(element("polyline", { points: points.map((point) => point.join(",")).join(" "), fill: "none", stroke: "var(--accent)" }));
    by("ece").textContent = error.toFixed(5);
  }
  by("bins").addEventListener("input", drawBins);
  by("bins-method").addEventListener("change", drawBins);

  drawCost();
  drawBins();
})();
