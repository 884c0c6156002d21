import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import pkg from '../../package.json' with { type: 'json' };
import { ROOT } from '../fresh.mjs';
import { releaseNotes, releaseProblems } from './notes.ts';

const CHANGELOG = `# Changelog

## [Unreleased]

### Added
- guard

## [0.2.0] - 2026-11-22

### Fixed
- redirects

## [0.1.0]

[0.2.0]: https://example.com/0.2.0
`;

it.each([
  ['0.2.0', false, '### Fixed\n- redirects'],
  ['0.3.0', false, null],
  ['0.3.0', true, '### Added\n- guard'],
  ['0.2.0', true, '### Fixed\n- redirects'],
  // Without a date, and without text.
  ['0.1.0', false, null],
])('finds the notes of %s (dry run: %s)', (version, dryRun, notes) => {
  expect(releaseNotes(CHANGELOG, version, dryRun)).toBe(notes);
});

it('names versions that differ, a missing section, and an owner who is not set', () => {
  const versions = { 'package.json': '0.3.0', 'sdk/package.json': '0.2.0', 'library/package.json': '0.3.0' };
  const of = (facts: { versions: Record<string, string>; repository?: string; dryRun?: boolean }) =>
    releaseProblems({ changelog: CHANGELOG, repository: 'https://github.com/ada/mailvet', dryRun: false, ...facts });
  expect(of({ versions })).toEqual([
    'sdk/package.json has version 0.2.0, package.json has 0.3.0.',
    'CHANGELOG.md has no section "## [0.3.0] - YYYY-MM-DD" with text.',
  ]);
  const same = { a: '0.2.0', b: '0.2.0' };
  expect(of({ versions: same })).toEqual([]);
  const placeholder = 'https://github.com/OWNER/mailvet';
  expect(of({ versions: same, repository: placeholder })).toEqual([
    expect.stringContaining("put the owner's name there"),
  ]);
  expect(of({ versions: same, repository: placeholder, dryRun: true })).toEqual([]);
});

it('finds what this version needs in CHANGELOG.md, with a section for what comes after it on top', () => {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const facts = { versions: { 'package.json': pkg.version }, repository: 'https://github.com/ada/mailvet' };
  expect(releaseProblems({ ...facts, changelog, dryRun: false })).toEqual([]);
  expect(/^## .*$/m.exec(changelog)?.[0]).toBe('## [Unreleased]');
});
