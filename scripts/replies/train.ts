/**
 * Trains the model that reads replies beside the rules: multinomial logistic regression over sparse features with an L2
 * penalty, by L-BFGS. Deterministic: the same rows give the same bytes.
 */
import { CLASSES } from '../../src/engine/smtp/classify/model.ts';

export interface Example {
  readonly features: readonly string[];
  /** With repetitions: the features weigh 1/√count each. */
  readonly count: number;
  /** Index among `CLASSES`. */
  readonly label: number;
  readonly weight: number;
}

const SIZE = CLASSES.length;
/** Features that occur in fewer replies say little about others. */
const REPLIES_MIN = 2;
const FEATURES_MAX = 6000;
const PENALTY = 2e-5;
const ROUNDS = { select: 30, fit: 30 } as const;
/** The largest weight in the file. */
const WHOLE_MAX = 99;

interface Problem {
  /** Indexes of each example's features. */
  readonly rows: readonly Int32Array[];
  readonly scales: Float64Array;
  readonly labels: Int32Array;
  /** Sum to 1. */
  readonly weights: Float64Array;
  readonly features: number;
}

/** The loss at `at`, and into `slope` its gradient. The bias of the classes comes after all weights. */
function lossAt({ rows, scales, labels, weights, features }: Problem, at: Float64Array, slope: Float64Array): number {
  slope.fill(0);
  const shares = new Float64Array(SIZE);
  const biases = features * SIZE;
  let loss = 0;
  rows.forEach((row, example) => {
    const scale = scales[example]!;
    shares.fill(0);
    for (const feature of row) for (let k = 0; k < SIZE; k++) shares[k]! += at[feature * SIZE + k]!;
    let most = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < SIZE; k++) {
      shares[k] = shares[k]! * scale + at[biases + k]!;
      most = Math.max(most, shares[k]!);
    }
    let sum = 0;
    for (let k = 0; k < SIZE; k++) {
      shares[k] = Math.exp(shares[k]! - most);
      sum += shares[k]!;
    }
    const label = labels[example]!;
    const weight = weights[example]!;
    loss -= weight * Math.log(shares[label]! / sum);
    for (let k = 0; k < SIZE; k++) {
      shares[k] = weight * (shares[k]! / sum - (k === label ? 1 : 0));
      slope[biases + k]! += shares[k]!;
      shares[k]! *= scale;
    }
    for (const feature of row) for (let k = 0; k < SIZE; k++) slope[feature * SIZE + k]! += shares[k]!;
  });
  for (let i = 0; i < biases; i++) {
    loss += (PENALTY / 2) * at[i]! * at[i]!;
    slope[i]! += PENALTY * at[i]!;
  }
  return loss;
}

const dot = (a: Float64Array, b: Float64Array): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
};

/** Steps that L-BFGS remembers. */
const MEMORY = 8;
interface Step {
  readonly moved: Float64Array;
  readonly turned: Float64Array;
  readonly inverse: number;
}

/** The direction down from a gradient, by the steps so far (Nocedal and Wright, algorithm 7.4). */
function direction(slope: Float64Array, steps: readonly Step[]): Float64Array {
  const down = slope.slice();
  const last = steps.at(-1);
  if (last === undefined) {
    const norm = Math.sqrt(dot(slope, slope));
    return down.map((value) => value / norm);
  }
  const parts = steps.map(() => 0);
  for (let i = steps.length - 1; i >= 0; i--) {
    const { moved, turned, inverse } = steps[i]!;
    parts[i] = inverse * dot(moved, down);
    for (let j = 0; j < down.length; j++) down[j]! -= parts[i]! * turned[j]!;
  }
  const factor = 1 / (last.inverse * dot(last.turned, last.turned));
  for (let j = 0; j < down.length; j++) down[j]! *= factor;
  steps.forEach(({ moved, turned, inverse }, i) => {
    const part = parts[i]! - inverse * dot(turned, down);
    for (let j = 0; j < down.length; j++) down[j]! += part * moved[j]!;
  });
  return down;
}

/** `start`: the weights to begin with, and where the result is. */
function minimize(problem: Problem, start: Float64Array, rounds: number): Float64Array {
  const { length } = start;
  let [at, slope] = [start, new Float64Array(length)];
  let loss = lossAt(problem, at, slope);
  const steps: Step[] = [];
  for (let round = 0; round < rounds; round++) {
    const down = direction(slope, steps);
    const expected = dot(slope, down);
    const [next, nextSlope] = [new Float64Array(length), new Float64Array(length)];
    let nextLoss = Number.POSITIVE_INFINITY;
    for (let share = 1; share > 1e-6 && nextLoss > loss - 1e-4 * share * expected; share /= 2) {
      for (let j = 0; j < length; j++) next[j] = at[j]! - share * down[j]!;
      nextLoss = lossAt(problem, next, nextSlope);
    }
    if (nextLoss >= loss) break;
    const moved = next.map((value, j) => value - at[j]!);
    const turned = nextSlope.map((value, j) => value - slope[j]!);
    const product = dot(moved, turned);
    if (product > 1e-12) steps.push({ moved, turned, inverse: 1 / product });
    if (steps.length > MEMORY) steps.shift();
    const isDone = loss - nextLoss < 1e-6 * loss;
    [at, slope, loss] = [next, nextSlope, nextLoss];
    if (isDone) break;
  }
  return at;
}

/** Rarer classes weigh more, by the root of how rare they are. */
function weightsOf(examples: readonly Example[]): Float64Array {
  const sums = new Float64Array(SIZE);
  for (const { label, weight } of examples) sums[label]! += weight;
  const all = dot(sums, new Float64Array(SIZE).fill(1));
  const weights = Float64Array.from(examples, ({ label, weight }) => weight * Math.sqrt(all / (SIZE * sums[label]!)));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}

/** The model as the text of its file; `head`: more lines for the head. */
export function train(examples: readonly Example[], head: Readonly<Record<string, string>>): string {
  const replies = new Map<string, number>();
  for (const { features } of examples) for (const one of features) replies.set(one, (replies.get(one) ?? 0) + 1);
  const common = {
    scales: Float64Array.from(examples, ({ count }) => 1 / Math.sqrt(count)),
    labels: Int32Array.from(examples, ({ label }) => label),
    weights: weightsOf(examples),
  };
  const fit = (features: readonly string[], start: Float64Array, rounds: number): Float64Array => {
    const indexes = new Map(features.map((feature, index) => [feature, index] as const));
    const rows = examples.map((example) =>
      Int32Array.from(example.features.flatMap((feature) => indexes.get(feature) ?? [])).sort(),
    );
    return minimize({ ...common, rows, features: features.length }, start, rounds);
  };
  const all = [...replies].flatMap(([feature, many]) => (many < REPLIES_MIN ? [] : [feature])).sort();
  const first = fit(all, new Float64Array((all.length + 1) * SIZE), ROUNDS.select);
  const weightsAt = (index: number): Float64Array => first.subarray(index * SIZE, (index + 1) * SIZE);
  const kept = all
    .map((feature, index) => ({ feature, index, size: dot(weightsAt(index), weightsAt(index)) }))
    .sort((a, b) => b.size - a.size || a.index - b.index)
    .slice(0, FEATURES_MAX)
    .sort((a, b) => a.index - b.index);
  // What was learned with all features is where the fewer ones begin; the bias of the classes is last.
  const start = new Float64Array((kept.length + 1) * SIZE);
  for (const [at, index] of [...kept.map((one) => one.index), all.length].entries())
    start.set(weightsAt(index), at * SIZE);
  const features = kept.map(({ feature }) => feature);
  return textOf(features, fit(features, start, ROUNDS.fit), head);
}

function textOf(features: readonly string[], fitted: Float64Array, head: Readonly<Record<string, string>>): string {
  const biases = features.length * SIZE;
  const most = fitted.subarray(0, biases).reduce((max, weight) => Math.max(max, Math.abs(weight)), 0);
  const scale = Number((most / WHOLE_MAX).toPrecision(6));
  const lines = features.flatMap((feature, index) => {
    const whole = Array.from(
      fitted.subarray(index * SIZE, (index + 1) * SIZE),
      (weight) => Math.round(weight / scale) + 0,
    );
    return whole.every((weight) => weight === 0) ? [] : [`${feature}\t${whole.join(' ')}`];
  });
  const bias = Array.from(fitted.subarray(biases), (value) => value.toFixed(4)).join(' ');
  const all = { classes: CLASSES.join(' '), scale: String(scale), bias, ...head };
  return `${[...Object.entries(all).map(([name, value]) => `# ${name} ${value}`), ...lines].join('\n')}\n`;
}

/** Platt scaling: slope and offset that make the log-odds of `shares` fit what happened, by Newton's method. */
export function calibrate(
  shares: readonly number[],
  happened: readonly boolean[],
): readonly [slope: number, offset: number] {
  const odds = shares.map(
    (share) =>
      Math.log(Math.min(Math.max(share, 1e-6), 1 - 1e-6)) - Math.log(1 - Math.min(Math.max(share, 1e-6), 1 - 1e-6)),
  );
  let [slope, offset] = [1, 0];
  for (let round = 0; round < 50; round++) {
    let [g0, g1, h00, h01, h11] = [0, 0, 1e-9, 0, 1e-9];
    odds.forEach((one, i) => {
      const p = 1 / (1 + Math.exp(-(slope * one + offset)));
      const error = p - (happened[i] === true ? 1 : 0);
      const spread = p * (1 - p);
      g0 += error * one;
      g1 += error;
      h00 += spread * one * one;
      h01 += spread * one;
      h11 += spread;
    });
    const determinant = h00 * h11 - h01 * h01;
    slope -= (h11 * g0 - h01 * g1) / determinant;
    offset -= (h00 * g1 - h01 * g0) / determinant;
  }
  return [Number(slope.toFixed(4)), Number(offset.toFixed(4))];
}
