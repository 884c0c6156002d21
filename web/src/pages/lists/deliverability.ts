import type { Verification } from '../../api/schema.ts';

/** In the order of the filters. */
export const DELIVERABILITY_LABELS: Readonly<Record<Verification['deliverability'], string>> = {
  deliverable: 'Deliverable',
  risky: 'Risky',
  undeliverable: 'Undeliverable',
  unknown: 'Unknown',
};
