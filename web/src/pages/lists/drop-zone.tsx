import { t } from '@lingui/core/macro';
import { Button, Progress, VisuallyHidden } from '@mantine/core';
import { type DragEvent, useRef, useState } from 'react';
import { LIST_BYTES } from '../../../../src/kernel/facts/limits.ts';
import { Icon } from '../../parts/icon.tsx';
import { formatBytes } from './format-bytes.ts';
import css from './lists.module.css';
import type { UploadState } from './use-upload.ts';

const TYPES = '.csv,.tsv,.txt,.xlsx,.xlsm,.xls,.xlsb,.ods,.json,.jsonl,.ndjson,.gz,.zip,.vcf,.ldif,text/*';

/** Takes a file by dropping it or by the button, and shows how far its upload is. */
export function DropZone(props: {
  state: UploadState;
  onFiles: (files: readonly File[]) => void;
  onCancel: () => void;
}) {
  const { state, onFiles, onCancel } = props;
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const hover = (event: DragEvent, is: boolean) => {
    event.preventDefault();
    setOver(is);
  };
  const isSending = state.phase === 'sending';
  return (
    <section
      className={css.drop}
      aria-label={t`File`}
      data-over={over}
      onDragOver={(event) => hover(event, true)}
      onDragLeave={(event) => hover(event, false)}
      onDrop={(event) => {
        hover(event, false);
        if (!isSending) onFiles([...event.dataTransfer.files]);
      }}
    >
      <span className={css.icon}>
        <Icon name="file-spreadsheet" size={20} />
      </span>
      <div className={css.words}>
        <b className="anywhere">{state.phase === 'none' ? t`Drop a file here` : state.file.name}</b>
        <p role="status">{stateText(state)}</p>
      </div>
      {isSending ? (
        <Button onClick={onCancel}>{t`Cancel upload`}</Button>
      ) : (
        <Button
          leftSection={<Icon name="upload" />}
          variant={state.phase === 'none' ? 'filled' : 'default'}
          onClick={() => input.current?.click()}
        >
          {state.phase === 'none' ? t`Choose a file` : t`Choose another file`}
        </Button>
      )}
      {isSending && (
        <Progress.Root w="100%" size="sm">
          <Progress.Section
            value={state.file.size === 0 ? 0 : (state.progress.sent / state.file.size) * 100}
            aria-label={t`Upload of ${state.file.name}`}
          />
        </Progress.Root>
      )}
      <VisuallyHidden>
        <input
          ref={input}
          type="file"
          accept={TYPES}
          tabIndex={-1}
          aria-label={t`File with addresses`}
          onChange={({ currentTarget }) => {
            onFiles([...(currentTarget.files ?? [])]);
            // The same file can be chosen again.
            currentTarget.value = '';
          }}
        />
      </VisuallyHidden>
    </section>
  );
}

function stateText(state: UploadState): string {
  switch (state.phase) {
    case 'none':
      return t`CSV, a workbook, JSON or plain text, up to ${formatBytes(LIST_BYTES)}.`;
    case 'refused':
      return t`Not stored.`;
    case 'sending':
      return state.progress.storing
        ? t`Received. Its rows are being stored.`
        : t`${formatBytes(state.progress.sent)} of ${formatBytes(state.file.size)} sent.`;
  }
}
