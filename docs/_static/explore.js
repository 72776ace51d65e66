/* The page to play with: cases are drawn, scores distorted, three calibrators fitted, and everything drawn again. */
"use strict";

(() => {
  const root = document.getElementById("explorable");
  if (!root) return;
  const { sigmoid, softplus, platt, isotonic, piecewise } = Calibration;
  const MEAN = -0.5, SPREAD = 1.8; // of the true log-odds
  const REACH = 4.2 * SPREAD; // none are farther from their mean
  const BEND = { up: 1.2, down: 0.3 }; // how much more positive scores are distorted than negative ones
  const MOST = 10000;
  const METHODS = [
    { key: "none", name: "uncalibrated" },
    { key: "platt", name: "Platt" },
    { key: "isotonic", name: "isotonic" },
    { key: "piecewise", name: "piecewise logistic" },
  ];
  const find = (name) => root.querySelector(`[data-part="${name}"]`);

  /* ---- the world: true log-odds L, score s = g(L) + noise ---- */

  const bend = (distortion, positive) => Math.abs(distortion) * (positive ? BEND.up : BEND.down);

  /** The score of true log-odds, before noise: bent outwards if distortion > 0, inwards if < 0. */
  function distorted(logOdds, distortion) {
    const stretch = 1 + bend(distortion, logOdds > 0) * Math.abs(logOdds);
    return distortion >= 0 ? logOdds * stretch : logOdds / stretch;
  }

  /** The true log-odds behind a score without noise, and how fast they change; null where no score can be. */
  function behind(score, distortion) {
    const k = bend(distortion, score > 0), size = Math.abs(score), sign = Math.sign(score) || 1;
    if (k === 0) return { logOdds: score, rate: 1 };
    if (distortion > 0) {
      const found = (2 * size) / (1 + Math.sqrt(1 + 4 * k * size));
      return { logOdds: sign * found, rate: 1 / (1 + 2 * k * found) };
    }
    if (k * size >= 1) return null;
    const found = size / (1 - k * size);
    return { logOdds: sign * found, rate: (1 + k * found) ** 2 };
  }

  /** The true log-odds that noise may have turned into a score, each with its weight. Steps are taken in what changes
      slowly: in the noise where distortion stretches the scores, in the log-odds where it squeezes them. */
  function causes(score, distortion, noise) {
    const prior = (logOdds) => Math.exp(-(((logOdds - MEAN) / SPREAD) ** 2) / 2);
    const found = [];
    if (distortion < 0 && noise > 0) {
      for (let logOdds = MEAN - REACH; logOdds <= MEAN + REACH; logOdds += Math.min(noise, 0.4) / 2) {
        const z = (score - distorted(logOdds, distortion)) / noise;
        found.push({ logOdds, weight: Math.exp((-z * z) / 2) * prior(logOdds) });
      }
      return found;
    }
    for (let z = noise > 0 ? -5 : 0; z <= (noise > 0 ? 5 : 0); z += 1 / 6) {
      const from = behind(score - noise * z, distortion);
      if (from !== null) {
        found.push({ logOdds: from.logOdds, weight: Math.exp((-z * z) / 2) * prior(from.logOdds) * from.rate });
      }
    }
    return found;
  }

  /** Many scores, each with the share of all cases around it and the true share of positives. Steps are equal in the
      log-odds, so that scores are dense where cases are, however far distortion stretches the rest. */
  function truth(distortion, noise) {
    const STEPS = 800;
    const at = (i) => {
      const side = (2 * i) / STEPS - 1;
      return distorted(MEAN + side * REACH, distortion) + side * 4 * noise;
    };
    const points = Array.from({ length: STEPS + 1 }, (_, i) => {
      const score = at(i), width = at(Math.min(i + 1, STEPS)) - at(Math.max(i - 1, 0));
      let [density, positive] = [0, 0];
      for (const { logOdds, weight } of causes(score, distortion, noise)) {
        density += weight;
        positive += weight * sigmoid(logOdds);
      }
      return { score, cases: density * width, share: positive / density };
    }).filter((point) => point.cases > 0);
    const total = points.reduce((sum, point) => sum + point.cases, 0);
    return points.map((point) => ({ ...point, cases: point.cases / total }));
  }

  /** Numbers that look random, the same for the same seed (mulberry32). */
  function random(seed) {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), state | 1);
      t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  /** Cases before they are distorted, so that a slider moves the same cases. */
  function draw(seed) {
    const next = random(seed);
    const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    return Array.from({ length: MOST }, () => {
      const logOdds = MEAN + SPREAD * normal();
      return { logOdds, error: normal(), label: next() < sigmoid(logOdds) ? 1 : 0 };
    });
  }

  const scoresOf = (cases, { distortion, noise }) =>
    cases.map((each) => distorted(each.logOdds, distortion) + noise * each.error);

  function fitted(scores, labels) {
    const sorted = scores.slice().sort((a, b) => a - b);
    const at = (share) => sorted[Math.floor(share * (sorted.length - 1))];
    const mean = scores.reduce((a, b) => a + b, 0) / scores.length;
    const variance = scores.reduce((sum, s) => sum + (s - mean) ** 2, 0) / scores.length;
    return {
      none: (score) => score,
      platt: platt(scores, labels),
      isotonic: isotonic(scores, labels, true),
      piecewise: piecewise(scores, labels, [at(0.25), at(0.75)], variance),
    };
  }

  /** The mean log-loss over all cases that the world could send. */
  function expectedLoss(points, map) {
    let sum = 0;
    for (const { score, cases, share } of points) {
      const logOdds = map(score);
      sum += cases * (share * softplus(-logOdds) + (1 - share) * softplus(logOdds));
    }
    return sum;
  }

  /** Mean forecast, share of positives and Wilson's 95 % interval in ten bins of equal width. */
  function bins(forecasts, labels) {
    const found = Array.from({ length: 10 }, () => ({ n: 0, p: 0, y: 0 }));
    forecasts.forEach((p, i) => {
      const bin = found[Math.min(9, Math.floor(10 * p))];
      bin.n += 1;
      bin.p += p;
      bin.y += labels[i];
    });
    return found.filter((bin) => bin.n > 0).map(({ n, p, y }) => {
      const z = 1.96, share = y / n;
      const center = (share + (z * z) / (2 * n)) / (1 + (z * z) / n);
      const half = (z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
      return { n, forecast: p / n, share, low: center - half, high: center + half };
    });
  }

  /* ---- drawing ---- */

  const WIDTH = 340, HEIGHT = 300, LEFT = 46, RIGHT = 10, TOP = 10, BOTTOM = 40;

  function scale([from, to], [left, right]) {
    return (value) => left + ((value - from) / (to - from)) * (right - left);
  }

  function axes(xDomain, xTicks, xLabel, yLabel) {
    const x = scale(xDomain, [LEFT, WIDTH - RIGHT]);
    const y = scale([0, 1], [HEIGHT - BOTTOM, TOP]);
    const parts = [];
    for (const tick of [0, 0.2, 0.4, 0.6, 0.8, 1]) {
      parts.push(`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(tick)}" y2="${y(tick)}"/>`);
      parts.push(`<text x="${LEFT - 6}" y="${y(tick) + 4}" text-anchor="end">${tick}</text>`);
    }
    for (const tick of xTicks) {
      parts.push(`<line class="grid" x1="${x(tick)}" x2="${x(tick)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/>`);
      parts.push(`<text x="${x(tick)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${tick}</text>`);
    }
    parts.push(`<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${xLabel}</text>`);
    parts.push(`<text transform="translate(10 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${yLabel}</text>`);
    return { x, y, parts };
  }

  const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

  function drawReliability(held, source) {
    const { x, y, parts } = axes([0, 1], [0, 0.2, 0.4, 0.6, 0.8, 1], "forecast", "share of positives");
    parts.push(`<path class="truth" d="${path([[x(0), y(0)], [x(1), y(1)]])}"/>`);
    parts.push(`<path class="curve ${source}" d="${path(held.map((bin) => [x(bin.forecast), y(bin.share)]))}"/>`);
    for (const bin of held) {
      const [cx, cy] = [x(bin.forecast), y(bin.share)];
      parts.push(`<line class="bar ${source}" x1="${cx}" x2="${cx}" y1="${y(bin.low)}" y2="${y(bin.high)}"/>`);
      parts.push(`<circle class="dot ${source}" cx="${cx}" cy="${cy}" r="4"><title>${bin.n} cases</title></circle>`);
    }
    find("reliability").innerHTML = parts.join("");
  }

  /** A round distance between ticks, for about six of them. */
  function tickStep(span) {
    const rough = span / 6, unit = 10 ** Math.floor(Math.log10(rough));
    return unit * [1, 2, 5, 10].find((times) => times * unit >= rough);
  }

  function drawMaps(points, maps, scores, labels) {
    let sum = 0;
    const seen = points.filter((point) => {
      sum += point.cases;
      return sum > 0.002 && sum < 0.998;
    });
    const domain = [seen[0].score, seen[seen.length - 1].score];
    const step = tickStep(domain[1] - domain[0]), ticks = [];
    for (let k = Math.ceil(domain[0] / step); k * step <= domain[1]; k++) ticks.push(Number((k * step).toPrecision(6)));
    const { x, y, parts } = axes(domain, ticks, "score", "probability");
    const every = Math.ceil(scores.length / 300);
    for (let i = 0; i < scores.length; i += every) {
      if (scores[i] < domain[0] || scores[i] > domain[1]) continue;
      const top = labels[i] ? TOP : HEIGHT - BOTTOM - 7;
      parts.push(`<line class="case" x1="${x(scores[i])}" x2="${x(scores[i])}" y1="${top}" y2="${top + 7}"/>`);
    }
    parts.push(`<path class="truth" d="${path(seen.map(({ score, share }) => [x(score), y(share)]))}"/>`);
    for (const { key } of METHODS) {
      parts.push(`<path class="curve ${key}" d="${path(seen.map(({ score }) => [x(score), y(sigmoid(maps[key](score)))]))}"/>`);
    }
    find("maps").innerHTML = parts.join("");
  }

  function drawLosses(losses, best) {
    const most = Math.max(...losses.map(({ loss }) => loss - best), 1e-6);
    const least = Math.min(...losses.map(({ loss }) => loss));
    const row = ({ key, name, loss }) => {
      const over = loss - best;
      const bold = loss === least ? ' class="least"' : "";
      return `<tr${bold}><th scope="row"><span class="swatch ${key}"></span>${name}</th><td>${loss.toFixed(3)}</td>
        <td class="over"><div><i class="${key}" style="width:${(100 * over) / most}%"></i></div></td>
        <td>+${over.toFixed(3)}</td></tr>`;
    };
    const bottom = { key: "truth", name: "the true probability", loss: best };
    find("losses").innerHTML = losses.map(row).join("") +
      `<tr><th scope="row"><span class="swatch truth"></span>${bottom.name}</th><td>${best.toFixed(3)}</td><td></td><td></td></tr>`;
  }

  /* ---- the page ---- */

  const state = { distortion: 0.6, noise: 0.5, cases: 300, seed: 1, source: "none" };
  let drawn = { seed: null };

  function update() {
    if (drawn.seed !== state.seed) drawn = { seed: state.seed, fit: draw(2 * state.seed), held: draw(2 * state.seed + 1) };
    const cases = drawn.fit.slice(0, state.cases), held = drawn.held.slice(0, state.cases);
    const scores = scoresOf(cases, state), labels = cases.map(({ label }) => label);
    const points = truth(state.distortion, state.noise);
    const maps = fitted(scores, labels);
    const losses = METHODS.map((method) => ({ ...method, loss: expectedLoss(points, maps[method.key]) }));
    let best = 0;
    for (const { cases: near, share } of points) {
      const certain = share === 0 || share === 1;
      best -= certain ? 0 : near * (share * Math.log(share) + (1 - share) * Math.log(1 - share));
    }
    drawReliability(bins(scoresOf(held, state).map((score) => sigmoid(maps[state.source](score))), held.map(({ label }) => label)), state.source);
    drawMaps(points, maps, scores, labels);
    drawLosses(losses, best);
    const winner = losses.reduce((a, b) => (b.loss < a.loss ? b : a));
    find("finding").textContent = `With ${state.cases.toLocaleString("en")} cases the smallest log-loss is ` +
      `${winner.loss.toFixed(3)}, ${winner.key === "none" ? "without calibrating" : `by ${winner.name}`}.`;
  }

  let asked = false;
  function later() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      update();
    });
  }

  const sliders = {
    distortion: {
      read: (value) => value / 100,
      write: (value) => Math.round(100 * value),
      tell: (value) => (value === 0 ? "none" : `${Math.abs(value).toFixed(2)}, ${value > 0 ? "overconfident" : "underconfident"}`),
    },
    noise: { read: Number, write: (value) => value, tell: (value) => value.toFixed(1) },
    cases: {
      read: (value) => Number((10 ** value).toPrecision(2)),
      write: (value) => Math.log10(value),
      tell: (value) => value.toLocaleString("en"),
    },
  };

  function show() {
    for (const [name, { write, tell }] of Object.entries(sliders)) {
      find(name).value = write(state[name]);
      find(name).setAttribute("aria-valuetext", tell(state[name]));
      find(`${name}-value`).textContent = tell(state[name]);
    }
    later();
  }

  for (const [name, { read }] of Object.entries(sliders)) {
    find(name).addEventListener("input", (event) => {
      state[name] = read(Number(event.target.value));
      show();
    });
  }
  for (const button of root.querySelectorAll("[data-preset]")) {
    button.addEventListener("click", () => {
      Object.assign(state, JSON.parse(button.dataset.preset));
      show();
    });
  }
  find("again").addEventListener("click", () => {
    state.seed += 1;
    later();
  });
  for (const choice of root.querySelectorAll('input[name="source"]')) {
    choice.addEventListener("change", () => {
      state.source = choice.value;
      later();
    });
  }
  show();
})();
