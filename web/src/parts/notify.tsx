import { t } from '@lingui/core/macro';
import { Anchor, Text } from '@mantine/core';
import { lazy, Suspense, useSyncExternalStore } from 'react';
import { createListeners } from './listeners.ts';

/** Loaded with the first notification, to keep the first view small. */
const load = () => import('./toasts.tsx');
const Toasts = lazy(() => load().then((module) => ({ default: module.Toasts })));

type Region = { readonly is: 'empty' | 'mounted' } | { readonly is: 'plain'; readonly message: string };
let region: Region = { is: 'empty' };
const listeners = createListeners();
function show(next: Region): void {
  region = next;
  listeners.changed();
}

const now = () => region;

/** The container of notifications; rendered once. */
export function ToastRegion() {
  const shown = useSyncExternalStore(listeners.subscribe, now, now);
  return (
    <section aria-label={t`Notifications`}>
      {shown.is === 'mounted' && (
        <Suspense fallback={null}>
          <Toasts />
        </Suspense>
      )}
      {shown.is === 'plain' && <p role="status">{shown.message}</p>}
    </section>
  );
}

/**
 * Confirms a completed action. With `undo` it stays open for ten seconds. Errors are shown next to what failed, not
 * here.
 */
export async function notify(message: string, undo?: () => Promise<unknown>): Promise<void> {
  const toasts = await load().catch(() => null);
  // After an upgrade its file may be gone. What was done has been done, so the message matters more than its looks.
  if (toasts === null) return show({ is: 'plain', message });
  const { notifications } = toasts;
  show({ is: 'mounted' });
  const id = notifications.show({
    message: (
      <Text size="sm" component="span">
        {message}{' '}
        {undo && (
          <Anchor
            component="button"
            type="button"
            onClick={() => {
              notifications.hide(id);
              undo().catch((error: unknown) =>
                notifications.show({ color: 'red', message: error instanceof Error ? error.message : String(error) }),
              );
            }}
          >{t`Undo`}</Anchor>
        )}
      </Text>
    ),
    autoClose: undo ? 10_000 : 4000,
    closeButtonProps: { 'aria-label': t`Close notification` },
  });
}
