/** What a release says and must agree on. Pure, so that a test can give it other facts. */

import { isPlaceholder } from './project.ts';

interface Facts {
  /** The version of the packages, by the path of the file that says so. */
  readonly versions: Readonly<Record<string, string | undefined>>;
  /** CHANGELOG.md, in the form of Keep a Changelog. */
  readonly changelog: string;
  /** Where the sources are. */
  readonly repository: string;
  /** A dry run may take the notes under "Unreleased". */
  readonly dryRun: boolean;
}

/** What keeps the release from being made, as sentences; empty if nothing does. */
export function releaseProblems({ versions, changelog, repository, dryRun }: Facts): string[] {
  const [[first, version] = ['', undefined]] = Object.entries(versions);
  const problems: string[] = [];
  for (const [path, other] of Object.entries(versions))
    if (other !== version) problems.push(`${path} has version ${other}, ${first} has ${version}.`);
  if (version !== undefined && releaseNotes(changelog, version, dryRun) === null)
    problems.push(`CHANGELOG.md has no section "## [${version}] - YYYY-MM-DD" with text.`);
  if (isPlaceholder(repository) && !dryRun)
    problems.push(`scripts/release/project.ts has ${repository}: put the owner's name there, then run npm run gen.`);
  return problems;
}

/** The text of the version's section; null if there is none, or an empty one. */
export function releaseNotes(changelog: string, version: string, dryRun: boolean): string | null {
  // Links of the headings, at the end, are no part of the last section.
  const body = changelog.replace(/(^\[[^\]]+\]: \S+\n?)+$/m, '');
  const sections = body.split(/^(?=## )/m).slice(1);
  const isOurs = (heading: string) =>
    heading.startsWith(`## [${version}] - `) && /^## \[[^\]]+\] - \d{4}-\d\d-\d\d$/.test(heading);
  const sectionWhere = (fits: (heading: string) => boolean) =>
    sections.find((section) => fits(section.split('\n', 1)[0]?.trim() ?? ''));
  const found = sectionWhere(isOurs) ?? (dryRun ? sectionWhere((heading) => heading === '## [Unreleased]') : undefined);
  const [, ...lines] = found?.split('\n') ?? [];
  return lines.join('\n').trim() || null;
}
