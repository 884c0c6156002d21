import { t } from '@lingui/core/macro';
import { Box, CopyButton } from '@mantine/core';
import type { ReactNode } from 'react';
import css from './code-block.module.css';
import { Icon } from './icon.tsx';

/**
 * Code under a header, with a button that copies it. `label` names both for assistive technology. `title`: to the left
 * of the header.
 */
export const CodeBlock = (props: { label: string; title?: ReactNode; header: ReactNode; code: string }) => {
  const { label, title, header, code } = props;
  return (
    <div className={css.block}>
      <div className={css.head}>
        {title && <div className={css.title}>{title}</div>}
        <div className={title ? css.beside : css.header}>{header}</div>
        <CopyButton value={code}>
          {({ copied, copy }) => (
            <button type="button" className={css.copy} onClick={copy} aria-label={t`Copy ${label}`}>
              <Icon name={copied ? 'check' : 'copy'} />
              {copied ? t`Copied` : t`Copy`}
            </button>
          )}
        </CopyButton>
      </div>
      {/* It scrolls, also with the keyboard. */}
      <Box component="pre" role="group" aria-label={label} tabIndex={0}>
        <code>{code}</code>
      </Box>
    </div>
  );
};
