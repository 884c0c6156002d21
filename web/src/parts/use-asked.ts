import { useState } from 'react';

/** What a dialog asks about. It stays known while the dialog fades away, so that its words do not change under the eyes. */
export function useAsked<T>(): { item: T | null; opened: boolean; ask: (item: T) => void; close: () => void } {
  const [item, setItem] = useState<T | null>(null);
  const [opened, setOpened] = useState(false);
  return {
    item,
    opened,
    ask: (next) => {
      setItem(() => next);
      setOpened(true);
    },
    close: () => setOpened(false),
  };
}
