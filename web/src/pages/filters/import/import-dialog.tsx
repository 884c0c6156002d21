import { Modal } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useAccount } from '../../../api/session.ts';
import { filtersKey } from '../queries.ts';
import { ImportForm } from './import-form.tsx';
import { ImportProgress } from './import-progress.tsx';
import { backToText, type ImportLine } from './lines.ts';
import { type ImportRun, startImport } from './run.ts';

/** Add many filters: typed, pasted or from a CSV file. */
export function ImportDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const narrow = useMediaQuery('(max-width: 48em)');
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Add many filters"
      size="xl"
      fullScreen={narrow ?? false}
      closeOnClickOutside={false}
    >
      <Import onClose={onClose} />
    </Modal>
  );
}

/** Mounted with the dialog, and stopped with it. */
function Import({ onClose }: { onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const [text, setText] = useState('');
  const [run, setRun] = useState<ImportRun | null>(null);
  useEffect(() => () => run?.stop(), [run]);
  const start = (lines: readonly ImportLine[]) =>
    setRun(startImport(id, lines, () => void client.invalidateQueries({ queryKey: filtersKey(id) })));
  if (run === null) return <ImportForm text={text} onText={setText} onStart={start} />;
  return (
    <ImportProgress
      run={run}
      onClose={onClose}
      onBack={(lines) => {
        setText(lines.map(backToText).join('\n'));
        setRun(null);
      }}
    />
  );
}
