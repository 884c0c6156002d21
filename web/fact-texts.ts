import { ALERTS } from '../src/kernel/facts/alerts.ts';
import { PAGE_FACTS } from '../src/kernel/facts/pages.ts';
import { GROUND_ROWS } from '../src/kernel/facts/policies.ts';
import { DELIVERABILITIES, NO_REASON_COPY, REASONS, type VerdictCopy } from '../src/kernel/facts/reasons.ts';
import { ROLES } from '../src/kernel/facts/roles.ts';
import { OUTCOME_PROVIDER_FACTS } from '../src/kernel/facts/sent-mail.ts';

const wordsOf = ({ title, meaning, advice }: VerdictCopy): readonly string[] => [title, meaning, advice];

/** What the dashboard shows of the kernel's tables, and words of the API, by `factText` (web/src/parts/fact-text.ts). */
export const FACT_TEXTS: ReadonlySet<string> = new Set(
  [
    ...PAGE_FACTS.map(({ title }) => title),
    ...Object.values(ALERTS).flatMap(({ label, condition }) => [label, condition]),
    ...Object.values(GROUND_ROWS).map(({ subject }) => subject),
    ...Object.values(OUTCOME_PROVIDER_FACTS).flatMap(({ secret, setting }) => [secret, setting]),
    ...Object.values(REASONS).flatMap(({ copy }) => ('title' in copy ? [copy] : Object.values(copy)).flatMap(wordsOf)),
    ...Object.values(NO_REASON_COPY).flatMap(wordsOf),
    ...ROLES,
    ...DELIVERABILITIES,
    // Of web/index.html; its other texts are those of web/src/shell/find.tsx.
    'This page needs JavaScript. The API does not; its documentation is at /guide/api.',
    // Buckets of charts, and states of accounts.
    'hour',
    'day',
    'active',
    'suspended',
  ].filter((text) => text !== ''),
);
