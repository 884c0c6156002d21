import { Anchor, Text } from '@mantine/core';
import { lazy, Suspense, useSyncExternalStore } from 'react';

/** Loaded when there is something to say: the first view does without. */
const load = () => import('./toasts.tsx');
const Toasts = lazy(() => load().then((module) => ({ default: module.Toasts })));

let wanted = false;
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Where notes appear; once in the page. */
export function Notes() {
  const mounted = useSyncExternalStore(subscribe, () => wanted);
  return (
    <Suspense fallback={null}>
      <section aria-label="Notes">{mounted && <Toasts />}</section>
    </Suspense>
  );
}

/**
 * A short note that something is done. `undo` stays open for ten seconds and offers to take it back; failures belong
 * beside what failed, not here.
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
    closeButtonProps: { 'aria-label': 'Close the note' },
  });
}
