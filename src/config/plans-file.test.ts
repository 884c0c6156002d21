import { expect, it } from 'vitest';
import { samplesOf } from '../../tests/lab/samples.ts';
import { DEFAULT_PLANS, UNLIMITED_CREDITS } from '../kernel/facts/plans.ts';
import { parsePlansFile, plansFileText } from './plans-file.ts';

const problems = (text: string) => {
  const read = parsePlansFile(text, 'plans.yaml');
  return read.ok ? [] : read.problems;
};

it('reads plans, with defaults for what is left out', () => {
  const read = parsePlansFile(
    `free: {requests_per_window: 60, levels: [mx], monthly_credits: 500, carry_over: all}
house:
  requests_per_window: 9000
  prices: {smtp: 5, unknown: 0}
  monthly_credits: unlimited
  filters: 12`,
    'plans.yaml',
  );
  expect(read.ok && [...read.plans.values()]).toMatchObject([
    {
      name: 'free',
      requestsPerWindow: 60,
      levels: ['mx'],
      prices: { mx: 1, smtp: 10, unknown: 1 },
      monthlyCredits: 500,
      carryOver: Number.POSITIVE_INFINITY,
    },
    {
      name: 'house',
      requestsPerWindow: 9000,
      levels: ['mx', 'smtp'],
      prices: { mx: 1, smtp: 5, unknown: 0 },
      monthlyCredits: UNLIMITED_CREDITS,
      carryOver: 0,
      filters: 12,
    },
  ]);
});

it('reads what it prints of the plans that there are without a file', () => {
  const read = parsePlansFile(plansFileText(DEFAULT_PLANS), 'plans.yaml');
  expect(read.ok && read.plans).toEqual(DEFAULT_PLANS);
});

it('names all mistakes at once, each with its line, its field and what to write instead', () => {
  expect(
    problems(`Free Plan:
  requests_per_window: 0
  level: [mx]
team:
  levels: [smtp]
  prices: {mx: -1, smpt: 2}
  monthly_credits: lots
  carry_over: some
house: {requests_per_window: 1, monthly_credits: unlimited, carry_over: all}
last: 7`),
  ).toEqual([
    'plans.yaml:1: "Free Plan" is no name of a plan: give up to 40 lower-case letters, digits, hyphens and underscores.',
    'plans.yaml:2: Free Plan: requests_per_window: give a whole number from 1 to 1,000,000,000.',
    'plans.yaml:3: Free Plan: "level" is no key here; did you mean levels?',
    'plans.yaml:4: team: requests_per_window is missing: give a number.',
    'plans.yaml:5: team: levels: give [mx] or [mx, smtp].',
    'plans.yaml:6: team: prices: "smpt" is no key here; did you mean smtp?',
    'plans.yaml:6: team: prices: mx: give a whole number from 0 to 10,000.',
    'plans.yaml:7: team: monthly_credits: give a whole number from 0 to 1,000,000,000,000, or unlimited.',
    'plans.yaml:8: team: carry_over: give a whole number from 0 to 1,000,000,000,000, none or all.',
    'plans.yaml:9: house: carry_over: leave it out, as there is nothing to carry over of unlimited credits.',
    expect.stringContaining('plans.yaml:10: last: give a mapping of requests_per_window'),
  ]);
});

it.each([
  ['', /1: give a mapping/],
  ['- a', /1: give a mapping/],
  ['a: {requests_per_window: 1}\na: {requests_per_window: 2}', /2: no YAML: Map keys must be unique/],
  [`a: ${'x'.repeat(300_000)}`, /1: the file is too long: at most 256 KB/],
])('refuses %#', (text, what) => expect(problems(text).join('\n')).toMatch(what));

it('reads the file of the documentation', () => {
  const sample = samplesOf('docs/plans.md').find(({ language }) => language === 'yaml')?.code ?? '';
  const read = parsePlansFile(sample, 'plans.yaml');
  expect(read.ok && [...read.plans.values()]).toMatchObject([
    { name: 'free', levels: ['mx'], monthlyCredits: 500 },
    { name: 'team', prices: { smtp: 5, unknown: 0 }, carryOver: 10_000 },
    { name: 'house', monthlyCredits: UNLIMITED_CREDITS },
  ]);
});
