import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { Icon } from './icon.tsx';
import { lazyPart } from './lazy.tsx';
import { LazyMenu } from './lazy-menu.tsx';
import { timeText } from './time.ts';
import type { TimeChoice } from './time-menu.tsx';

const TimeMenu = lazyPart(() => import('./time-menu.tsx'), 'TimeMenu');

/** Names the time of a page, and opens the menu of those that can be chosen. */
export const TimePicker = (props: TimeChoice) => (
  <LazyMenu
    part={TimeMenu}
    of={props}
    button={(given) => (
      <Button
        {...given}
        size="xs"
        aria-label={t`Time: ${timeText(props.time) ?? ''}`}
        rightSection={<Icon name="selector" />}
      >
        {timeText(props.time)}
      </Button>
    )}
  />
);
