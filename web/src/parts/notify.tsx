import { Anchor, Text } from '@mantine/core';
import { lazy, Suspense, useSyncExternalStore } from 'react';

/** Loaded with the first notification, to keep the first view small. */
const load = () => import('./toasts.tsx');
const Toasts = lazy(() => load().then((module) => ({ default: module.Toasts })));

let wanted = false;
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The container of notifications; rendered once. */
export function ToastRegion() {
  const mounted = useSyncExternalStore(subscribe, () => wanted);
  return (
    <Suspense fallback={null}>
      <section aria-label="Notifications">{mounted && <Toasts />}</section>
    </Suspense>
  );
}

/**
 * Confirms a completed action. With `undo` it stays open for ten seconds. Errors are shown next to what failed, not
 * here.
 */
export async function notify(message: string, undo?: () => Promise<unknown>): Promise<void> {
  wanted = true;
  for (const listener of listeners) listener();
  const { notifications } = await load();
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
          >
            Undo
          </Anchor>
        )}
      </Text>
    ),
    autoClose: undo ? 10_000 : 4000,
    closeButtonProps: { 'aria-label': 'Close notification' },
  });
}
