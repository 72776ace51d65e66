/* Three calibrators in plain JavaScript, for the page to play with. Each takes scores and labels (0 or 1) and returns a
   function from score to log-odds, since 1 - P loses all digits near P = 1. A test compares the maps with the library's. */
"use strict";

const Calibration = (() => {
  const sigmoid = (x) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));
  const softplus = (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

  /** Solve a small symmetric positive definite system by Cholesky's method; null where rounding made it singular. */
  function solve(matrix, right) {
    const n = right.length;
    const factor = matrix.map((row) => row.slice());
    const x = right.slice();
    for (let j = 0; j < n; j++) {
      for (let i = j; i < n; i++) {
        for (let k = 0; k < j; k++) factor[i][j] -= factor[i][k] * factor[j][k];
        if (i === j) {
          if (!(factor[j][j] > 0)) return null;
          factor[j][j] = Math.sqrt(factor[j][j]);
        } else factor[i][j] /= factor[j][j];
      }
    }
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < i; k++) x[i] -= factor[i][k] * x[k];
      x[i] /= factor[i][i];
    }
    for (let i = n - 1; i >= 0; i--) {
      for (let k = i + 1; k < n; k++) x[i] -= factor[k][i] * x[k];
      x[i] /= factor[i][i];
    }
    return x;
  }

  /** Minimize Σ log(1 + exp f) − t·f + θ'Aθ/2 over θ, f = features·θ, by Newton's method.
      A step is taken only if it lowers the sum. */
  function logistic(features, targets, start, penalty) {
    const width = start.length;
    const at = (theta) => {
      let value = 0;
      const gradient = new Array(width).fill(0);
      const hessian = penalty.map((row) => row.slice()); // only its lower half is kept
      features.forEach((row, i) => {
        let f = 0;
        for (let j = 0; j < width; j++) f += row[j] * theta[j];
        const p = sigmoid(f);
        value += softplus(f) - targets[i] * f;
        for (let j = 0; j < width; j++) {
          gradient[j] += (p - targets[i]) * row[j];
          const w = p * (1 - p) * row[j];
          for (let k = 0; k <= j; k++) hessian[j][k] += w * row[k];
        }
      });
      for (let j = 0; j < width; j++) {
        for (let k = 0; k < width; k++) {
          gradient[j] += penalty[j][k] * theta[k];
          value += (penalty[j][k] * theta[j] * theta[k]) / 2;
        }
      }
      return { theta, value, gradient, hessian };
    };
    let now = at(start);
    for (let round = 0; round < 200; round++) {
      const step = solve(now.hessian, now.gradient);
      if (step === null) break;
      const decrement = step.reduce((sum, s, j) => sum + s * now.gradient[j], 0);
      if (decrement < 1e-18 * (1 + features.length)) break;
      let next = null;
      for (let length = 1; length > 1e-12 && next === null; length /= 2) {
        const trial = at(now.theta.map((t, j) => t - length * step[j]));
        if (trial.value < now.value) next = trial;
      }
      if (next === null) break;
      now = next;
    }
    return now.theta;
  }

  /** Where scores are and how far they spread: fits are made in (s − center)/scale. */
  function frameOf(scores) {
    const center = scores.reduce((a, b) => a + b, 0) / scores.length;
    const variance = scores.reduce((sum, s) => sum + (s - center) ** 2, 0) / scores.length;
    return { center, scale: Math.sqrt(variance) || 1 };
  }

  const count = (labels) => {
    const positive = labels.reduce((a, b) => a + b, 0);
    return { positive, negative: labels.length - positive };
  };

  /** Platt's targets: a label counts as a little less than certain. */
  function plattTargets(labels) {
    const { positive, negative } = count(labels);
    return { high: (positive + 1) / (positive + 2), low: 1 / (negative + 2) };
  }

  const startLevel = (labels) => Math.log((count(labels).positive + 1) / (count(labels).negative + 1));

  /** A sigmoid of the score, fitted to Platt's targets. */
  function platt(scores, labels) {
    const { center, scale } = frameOf(scores);
    const { high, low } = plattTargets(labels);
    const features = scores.map((s) => [1, (s - center) / scale]);
    const none = [[0, 0], [0, 0]];
    const [b, a] = logistic(features, labels.map((y) => (y ? high : low)), [startLevel(labels), 0], none);
    return (s) => b + (a * (s - center)) / scale;
  }

  /** The non-decreasing function closest to the labels, by pair-adjacent violators, with straight lines between scores.
      Bounded: fitted to Platt's targets, so that it never says 0 or 1. */
  function isotonic(scores, labels, bounded = false) {
    const { high, low } = bounded ? plattTargets(labels) : { high: 1, low: 0 };
    const order = scores.map((_, i) => i).sort((i, j) => scores[i] - scores[j]);
    const blocks = [];
    for (const i of order) {
      let block = { first: scores[i], last: scores[i], sum: labels[i], count: 1 };
      const before = blocks[blocks.length - 1];
      if (before && before.last === scores[i] && before.first === scores[i]) {
        blocks.pop(); // equal scores are one
        block = { first: scores[i], last: scores[i], sum: before.sum + labels[i], count: before.count + 1 };
      }
      blocks.push(block);
    }
    const pooled = [];
    for (let block of blocks) {
      while (pooled.length) {
        const before = pooled[pooled.length - 1];
        if (before.sum * block.count < block.sum * before.count) break;
        pooled.pop();
        block = {
          first: before.first, last: block.last, sum: before.sum + block.sum, count: before.count + block.count,
        };
      }
      pooled.push(block);
    }
    const knots = [], values = [];
    for (const block of pooled) {
      const value = low + ((high - low) * block.sum) / block.count;
      knots.push(block.first);
      values.push(value);
      if (block.last > block.first) {
        knots.push(block.last);
        values.push(value);
      }
    }
    const probability = (s) => {
      if (s <= knots[0]) return values[0];
      if (s >= knots[knots.length - 1]) return values[values.length - 1];
      let left = 0, right = knots.length - 1;
      while (right - left > 1) {
        const middle = (left + right) >> 1;
        if (knots[middle] <= s) left = middle;
        else right = middle;
      }
      return values[left] + ((values[right] - values[left]) * (s - knots[left])) / (knots[right] - knots[left]);
    };
    return (s) => Math.log(probability(s) / (1 - probability(s)));
  }

  /** Whether a threshold separates the classes perfectly, in either direction. */
  function separable(scores, labels) {
    const ends = [[Infinity, -Infinity], [Infinity, -Infinity]];
    scores.forEach((s, i) => {
      const end = ends[labels[i]];
      end[0] = Math.min(end[0], s);
      end[1] = Math.max(end[1], s);
    });
    return ends[0][1] <= ends[1][0] || ends[1][1] <= ends[0][0];
  }

  /** Log-odds that are linear by pieces and bend at the given knots; changes of slope are penalized. */
  function piecewise(scores, labels, knots, penalty) {
    const { center, scale } = frameOf(scores);
    const bends = knots.map((knot) => (knot - center) / scale);
    const row = (s) => {
      const x = (s - center) / scale;
      return [1, x, ...bends.map((bend) => Math.max(x - bend, 0))];
    };
    const width = 2 + knots.length;
    const matrix = Array.from({ length: width }, () => new Array(width).fill(0));
    for (let j = 2; j < width; j++) matrix[j][j] = (2 * penalty) / scale / scale;
    if (separable(scores, labels)) {
      // Without a small ridge on the log-odds at the knots and ends there would be no finite fit.
      const { positive, negative } = count(labels);
      let [low, high] = [Infinity, -Infinity];
      for (const s of scores) [low, high] = [Math.min(low, s), Math.max(high, s)];
      for (const end of [low, ...knots, high].map(row)) {
        for (let j = 0; j < width; j++) {
          for (let k = 0; k < width; k++) matrix[j][k] += 2e-8 * Math.min(positive, negative) * end[j] * end[k];
        }
      }
    }
    const start = [startLevel(labels), ...new Array(width - 1).fill(0)];
    const theta = logistic(scores.map(row), labels, start, matrix);
    return (s) => row(s).reduce((sum, value, j) => sum + value * theta[j], 0);
  }

  return { sigmoid, softplus, platt, isotonic, piecewise };
})();

if (typeof module !== "undefined") module.exports = Calibration;
