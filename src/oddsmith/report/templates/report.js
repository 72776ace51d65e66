(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const by = (id) => document.getElementById(id);

  by("no-script").hidden = true;

  // Methods that stand out in score space; the one picked last lies on top.
  const picks = [...document.querySelectorAll("[data-curve]")];
  function pick(box) {
    const curve = by(box.dataset.curve);
    curve.classList.toggle("chosen", box.checked);
    if (box.checked) curve.parentNode.append(curve);
    else curve.parentNode.prepend(curve);
  }
  for (const box of picks) box.addEventListener("change", () => pick(box));
  for (const button of document.querySelectorAll("[data-pick]")) {
    button.parentNode.hidden = false;
    button.addEventListener("click", () => {
      picks.forEach((box, rank) => {
        box.checked = button.dataset.pick === "all" || (button.dataset.pick === "best" && rank < 5);
      });
      [...picks].reverse().forEach(pick);
    });
  }

  function element(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // The least of 1, 2, 2.5, 5 and 10 times a power of ten that is not below.
  function rounded(value) {
    const unit = 10 ** Math.floor(Math.log10(value));
    return unit * [1, 2, 2.5, 5, 10].find((times) => times * unit >= value * (1 - 1e-9));
  }

  // Axes of a chart that both start at 0: x ends at 1, y where four round steps reach `highest`.
  function axes(chart, highest, below) {
    const top = 4 * rounded(highest / 4);
    const [width, height] = [chart.viewBox.baseVal.width, chart.viewBox.baseVal.height];
    const x = (value) => 46 + (width - 56) * value;
    const y = (value) => height - 42 - (height - 52) * (value / top);
    chart.replaceChildren();
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      chart.append(element("path", { class: "grid", d: `M${x(part)},${y(0)}V${y(top)}M${x(0)},${y(part * top)}H${x(1)}` }));
      chart.append(element("text", { x: x(part), y: y(0) + 17, "text-anchor": "middle" }, part));
      chart.append(element("text", { x: x(0) - 6, y: y(part * top) + 4, "text-anchor": "end" }, Number((part * top).toPrecision(3))));
    }
    chart.append(element("text", { x: x(0.5), y: height - 6, "text-anchor": "middle" }, below));
    return { x, y, top };
  }

  // What happens at a threshold: `above` is the largest threshold below the forecasts of a cell.
  function confusion(cells, threshold) {
    const count = { tp: 0, fp: 0, tn: 0, fn: 0 };
    cells.above.forEach((above, i) => {
      const yes = above >= threshold;
      count[yes ? "tp" : "fn"] += cells.pos[i];
      count[yes ? "fp" : "tn"] += cells.neg[i];
    });
    return count;
  }

  function cost(count, fp, fn) {
    return (fp * count.fp + fn * count.fn) / (count.tp + count.fp + count.tn + count.fn);
  }

  // Expected cost at every threshold where it changes, from the lowest up.
  function costCurve(cells, fp, fn) {
    const count = confusion(cells, 0);
    const steps = [[0, cost(count, fp, fn)]];
    cells.above.forEach((above, i) => {
      count.tp -= cells.pos[i];
      count.fn += cells.pos[i];
      count.fp -= cells.neg[i];
      count.tn += cells.neg[i];
      const until = i + 1 < cells.above.length ? cells.above[i + 1] : 1;
      steps.push([Math.min(until, 1), cost(count, fp, fn)]);
    });
    return steps;
  }

  function drawCost() {
    const fp = Number(by("cost-fp").value);
    const fn = Number(by("cost-fn").value);
    const threshold = fp / (fp + fn);
    const cells = data.forecasts[data.recommended].decisions;
    const count = confusion(cells, threshold);
    const [positive, negative] = [count.tp + count.fn, count.fp + count.tn];
    const spent = cost(count, fp, fn);
    const same = Math.min(fp * negative, fn * positive) / (positive + negative);
    const whole = (value) => value.toLocaleString("en");
    by("cost-fp-value").textContent = fp;
    by("cost-fn-value").textContent = fn;
    by("threshold").textContent = threshold.toFixed(4);
    for (const name of ["tp", "fp", "tn", "fn"]) by(name).textContent = whole(count[name]);
    by("cost").textContent = spent.toFixed(5);
    by("cost-same").textContent = same.toFixed(5);
    const raw = by("cost-raw") ? data.forecasts[data.baseline].decisions : null;
    if (raw) by("cost-raw").textContent = cost(confusion(raw, threshold), fp, fn).toFixed(5);
    by("cost-words").textContent =
      `At threshold ${threshold.toFixed(4)}: ${whole(count.fp)} false positives and ${whole(count.fn)} false negatives, ` +
      `an expected cost of ${spent.toFixed(5)} per case.`;

    const lines = [[cells, ""], ...(raw ? [[raw, "6 4"]] : [])];
    const curves = lines.map(([one, dashes]) => [costCurve(one, fp, fn), dashes]);
    const highest = Math.max(...curves.map(([steps]) => Math.max(...steps.map(([, value]) => value))));
    const chart = by("cost-chart");
    const { x, y, top } = axes(chart, highest, "threshold");
    for (const [steps, dashes] of curves.reverse()) {
      const path = steps.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join("L");
      const ink = dashes ? "var(--ink-1)" : "var(--ink-0)";
      chart.append(element("path", { d: `M${path}`, fill: "none", stroke: ink, "stroke-width": 1.8, "stroke-dasharray": dashes }));
    }
    chart.append(element("path", { d: `M${x(threshold)},${y(0)}V${y(top)}`, stroke: "var(--text)", "stroke-dasharray": "2 3" }));
    chart.append(element("circle", { cx: x(threshold), cy: y(spent), r: 4, fill: "var(--text)" }));
  }
  for (const id of ["cost-fp", "cost-fn"]) by(id).addEventListener("input", drawCost);

  // Wilson's interval of a share.
  function wilson(share, n) {
    const z2 = 1.959964 ** 2;
    const middle = (share + z2 / (2 * n)) / (1 + z2 / n);
    const reach = Math.sqrt((z2 * share * (1 - share)) / n + (z2 * z2) / (4 * n * n)) / (1 + z2 / n);
    return [Math.max(middle - reach, 0), Math.min(middle + reach, 1)];
  }

  function drawBins() {
    const n = data.bin_counts[Number(by("bins").value)];
    const bins = data.forecasts[by("bins-method").value].bins[by("bins-kind").value][n];
    const total = bins.weight.reduce((sum, weight) => sum + weight, 0);
    by("bins-value").textContent = n;
    by("bins").setAttribute("aria-valuetext", `${n} bins`);
    const chart = by("bins-chart");
    const { x, y } = axes(chart, 1, "predicted probability");
    chart.append(element("path", { d: `M${x(0)},${y(0)}L${x(1)},${y(1)}`, stroke: "var(--faint)" }));
    let error = 0;
    bins.weight.forEach((weight, i) => {
      const [mean, share] = [bins.mean_predicted[i], bins.fraction_positive[i]];
      const [low, high] = wilson(share, weight);
      error += (Math.abs(share - mean) * weight) / total;
      chart.append(element("path", { d: `M${x(mean)},${y(low)}V${y(high)}`, stroke: "var(--ink-0)", opacity: 0.6 }));
      const dot = element("circle", { cx: x(mean), cy: y(share), r: 2 + 9 * Math.sqrt(weight / total), fill: "var(--ink-0)", "fill-opacity": 0.8 });
      dot.append(element("title", {}, `predicted ${mean.toFixed(3)}, observed ${share.toFixed(3)}, ${weight.toLocaleString("en")} cases`));
      chart.append(dot);
    });
    by("ece").textContent = error.toFixed(5);
  }
  by("bins").addEventListener("input", drawBins);
  for (const id of ["bins-kind", "bins-method"]) by(id).addEventListener("change", drawBins);

  drawCost();
  drawBins();
})();
