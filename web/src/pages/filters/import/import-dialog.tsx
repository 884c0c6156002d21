import { Modal } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { useAccount } from '../../../api/session.ts';
import { filtersKey } from '../queries.ts';
import { ImportForm } from './import-form.tsx';
import { ImportProgress } from './import-progress.tsx';
import { backToText, type ImportLine } from './lines.ts';
import { type ImportRun, startImport } from './run.ts';

/** Imports filters from pasted text or a CSV file. */
export function ImportDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const narrow = useMediaQuery('(max-width: 48em)');
  // Kept while the dialog is closed, so that an accidental close loses nothing.
  const [text, setText] = useState('');
  const run = useRef<ImportRun>(null);
  const close = () => {
    // A running import is stopped first and shows its progress.
    if (run.current?.state().phase === 'running') run.current.stop();
    else if (run.current?.state().phase !== 'stopping') onClose();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title="Import filters"
      size="xl"
      fullScreen={narrow ?? false}
      closeOnClickOutside={false}
    >
      <Import text={text} onText={setText} current={run} onClose={onClose} />
    </Modal>
  );
}

/** Mounted with the dialog, and stopped with it. */
function Import(props: {
  text: string;
  onText: (text: string) => void;
  current: RefObject<ImportRun | null>;
  onClose: () => void;
}) {
  const { text, onText, current, onClose } = props;
  const { id } = useAccount();
  const client = useQueryClient();
  const [run, setRun] = useState<ImportRun | null>(null);
  useEffect(() => {
    current.current = run;
    return () => {
      run?.stop();
      current.current = null;
    };
  }, [run, current]);
  function start(lines: readonly ImportLine[]) {
    onText('');
    setRun(startImport(id, lines, () => void client.invalidateQueries({ queryKey: filtersKey(id) })));
  }
  if (run === null) return <ImportForm text={text} onText={onText} onStart={start} onCancel={onClose} />;
  return (
    <ImportProgress
      run={run}
      onClose={onClose}
      onBack={(lines) => {
        onText(lines.map(backToText).join('\n'));
        setRun(null);
      }}
    />
  );
}
