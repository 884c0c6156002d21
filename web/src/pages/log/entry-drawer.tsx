import { t } from '@lingui/core/macro';
import { Anchor, Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAccount } from '../../api/session.ts';
import { Drawer, DrawerSteps } from '../../parts/drawer.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { EntryDetail } from './entry-detail.tsx';
import { entryQuery } from './query.ts';

/** An entry beside the log. `onStep`: to the entry above (-1) or below (1); `onErase`: null for who may not. */
export function EntryDrawer(props: {
  id: string;
  onStep: (by: -1 | 1) => void;
  onClose: () => void;
  onErase: ((email: string) => void) | null;
  /** What else is known of it. */
  children?: ReactNode;
}) {
  const { id, onStep, onClose, onErase, children } = props;
  const query = useQuery(entryQuery(useAccount().id, id));
  const { data } = query;
  return (
    <Drawer
      label={data === undefined ? t`Verification` : t`Verification of ${data.entry.email}`}
      title={t`Verification`}
      onClose={onClose}
      actions={<DrawerSteps onStep={onStep} />}
    >
      <QueryResult query={query}>
        {(detail) => (
          <>
            <EntryDetail detail={detail} />
            {children}
            <Group>
              <Anchor
                fz="sm"
                renderRoot={(props) => <Link {...props} to="/log/$id" params={{ id }} />}
              >{t`Open as a page`}</Anchor>
              {onErase && (
                <Button
                  color="red"
                  variant="subtle"
                  size="xs"
                  onClick={() => onErase(detail.entry.email)}
                >{t`Erase this address`}</Button>
              )}
            </Group>
          </>
        )}
      </QueryResult>
    </Drawer>
  );
}
