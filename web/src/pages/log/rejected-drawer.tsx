import { t } from '@lingui/core/macro';
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useAccount } from '../../api/session.ts';
import { Drawer, DrawerSteps } from '../../parts/drawer.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { rejectedQuery } from './query.ts';
import { RejectedDetail } from './rejected-detail.tsx';
import { rejectedRowId } from './rows.ts';

/** A rejected request beside the log. `onStep`: to the row above (-1) or below (1). */
export function RejectedDrawer(props: { id: number; onStep: (by: -1 | 1) => void; onClose: () => void }) {
  const { id, onStep, onClose } = props;
  const query = useQuery(rejectedQuery(useAccount().id, id));
  return (
    <Drawer
      label={t`Rejected request`}
      title={t`Rejected request`}
      onClose={onClose}
      actions={<DrawerSteps onStep={onStep} />}
    >
      <QueryResult query={query}>
        {(detail) => (
          <>
            <RejectedDetail detail={detail} />
            <Anchor
              fz="sm"
              renderRoot={(props) => <Link {...props} to="/log/$id" params={{ id: rejectedRowId(id) }} />}
            >{t`Open as a page`}</Anchor>
          </>
        )}
      </QueryResult>
    </Drawer>
  );
}
