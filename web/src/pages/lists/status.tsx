import { t } from '@lingui/core/macro';
import type { ListStatus } from '../../../../src/kernel/facts/lists.ts';
import type { List } from '../../api/schema.ts';
import css from './lists.module.css';

export const STATUS_LABELS: Readonly<Record<ListStatus, string>> = {
  ready: t`not started`,
  running: 'running',
  paused: 'paused',
  completed: 'finished',
  cancelled: 'canceled',
  failed: 'failed',
};

/** The codes of errors that keep a list from its start. */
const UNPAID: readonly string[] = ['insufficient_credits', 'key_budget_spent'];

const isUnpaid = ({ status, error }: Pick<List, 'status' | 'error'>): boolean =>
  status === 'ready' && error !== null && UNPAID.includes(error.code);

export const ListStatusTag = ({ of }: { of: Pick<List, 'status' | 'error'> }) => (
  <span className={css.tag} data-status={isUnpaid(of) ? 'unpaid' : of.status}>
    {isUnpaid(of) ? t`waiting for credits` : STATUS_LABELS[of.status]}
  </span>
);
