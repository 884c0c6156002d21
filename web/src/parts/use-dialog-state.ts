import { useState } from 'react';

/** The item that a dialog is about. It is kept while the dialog fades out, so that the text does not change. */
export function useDialogState<T>(): { item: T | null; opened: boolean; open: (item: T) => void; close: () => void } {
  const [item, setItem] = useState<T | null>(null);
  const [opened, setOpened] = useState(false);
  return {
    item,
    opened,
    open: (next) => {
      setItem(() => next);
      setOpened(true);
    },
    close: () => setOpened(false),
  };
}
