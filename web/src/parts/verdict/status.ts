import type { Verification } from '../../api/schema.ts';

type Status = Verification['status'];

export const STATUS_LABELS: Readonly<Record<Status, string>> = { good: 'Good', bad: 'Bad' };
