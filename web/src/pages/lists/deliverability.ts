import { keysOf } from '../../../../src/kernel/facts/keys-of.ts';
import type { Verification } from '../../api/schema.ts';

const ALL: Readonly<Record<Verification['deliverability'], true>> = {
  deliverable: true,
  risky: true,
  undeliverable: true,
  unknown: true,
};
/** What the rows of a list are filtered by, in the order of the filters; SEGMENT_LABELS has their names. */
export const VERDICTS = keysOf(ALL);
