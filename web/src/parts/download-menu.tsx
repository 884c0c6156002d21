import { t } from '@lingui/core/macro';
import { Button, Popover, SegmentedControl } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import css from './download-menu.module.css';
import { formatNumber } from './format.ts';
import { Icon } from './icon.tsx';

interface DownloadPart<F> {
  readonly label: string;
  readonly icon: ReactNode;
  /** Rows, where they are known. */
  readonly count?: number;
  readonly href: (format: F) => string;
}

/** A button that offers parts of the rows as files. `formats`: in words, the one that is chosen at first in front. */
export function DownloadMenu<F extends string>(props: {
  label: string;
  formats: Readonly<Record<F, string>>;
  parts: readonly DownloadPart<F>[];
}) {
  const { label, formats, parts } = props;
  const names = keysOf(formats);
  const [format, setFormat] = useState(names[0]!);
  return (
    <Popover position="bottom-end" trapFocus portalProps={{ target: '#content' }}>
      <Popover.Target>
        <Button leftSection={<Icon name="download" />} rightSection={<Icon name="chevron-down" />}>
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={label}>
        <ul className={css.parts}>
          {parts.map(({ label, icon, count, href }) => (
            <li key={label}>
              <a href={href(format)} download>
                {icon}
                <span>{label}</span>
                {count !== undefined && <span className="numbers">{formatNumber(count)}</span>}
              </a>
            </li>
          ))}
        </ul>
        <SegmentedControl
          size="xs"
          fullWidth
          aria-label={t`Format`}
          value={format}
          onChange={(value) => setFormat(names.find((one) => one === value) ?? format)}
          data={names.map((value) => ({ value, label: formats[value] }))}
        />
      </Popover.Dropdown>
    </Popover>
  );
}
