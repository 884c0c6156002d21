import { t } from '@lingui/core/macro';
import { Chip, ChipText } from './chip.tsx';
import { lazyPart } from './lazy.tsx';
import { LazyMenu } from './lazy-menu.tsx';
import { hasTime, type TimeSearch, timeText } from './time.ts';
import type { TimeChoice } from './time-menu.tsx';

const TimeMenu = lazyPart(() => import('./time-menu.tsx'), 'TimeMenu');

/**
 * The time of a page as a chip, which opens the menu of those that can be chosen. `usual`: what the page shows where
 * none was chosen; missing: all that there is.
 */
export function TimePicker({ time, usual = {}, onChange }: TimeChoice & { usual?: TimeSearch }) {
  const shown = hasTime(time) ? time : usual;
  const name = t`Time`;
  const text = timeText(shown);
  return (
    <Chip name={name} isSet={text !== null} onClear={hasTime(time) ? () => onChange({}) : undefined}>
      <LazyMenu
        part={TimeMenu}
        of={{ time: shown, onChange }}
        button={(given) => (
          <button type="button" {...given}>
            <ChipText name={name} value={text} />
          </button>
        )}
      />
    </Chip>
  );
}
