import { t } from '@lingui/core/macro';
import { Menu } from '@mantine/core';
import { useState } from 'react';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { CustomRangeDialog } from './custom-range.tsx';
import { type MenuProps, useOpenedMenu } from './lazy-menu.tsx';
import { RANGES, type TimeSearch, timeSearch, timeText } from './time.ts';
import { useTypeAhead } from './use-type-ahead.ts';

export interface TimeChoice {
  readonly time: TimeSearch;
  readonly onChange: (time: TimeSearch) => void;
}

/** The times that can be chosen, in the menu of a `TimePicker`. */
export function TimeMenu({ target, children, time, onChange }: MenuProps & TimeChoice) {
  const menu = useOpenedMenu(target);
  const [isChoosing, setChoosing] = useState(false);
  const typeAhead = useTypeAhead();
  // Days and hours are no choice of the menu: they stand there while they are chosen.
  const own = time.from ?? time.hour;
  return (
    <>
      <Menu position="bottom-start" portalProps={{ target: '#content' }} {...menu}>
        <Menu.Target>{children}</Menu.Target>
        <Menu.Dropdown aria-label={t`Time`} onKeyDown={typeAhead}>
          <Menu.RadioGroup value={own ?? time.range ?? ''} onChange={(range) => onChange(timeSearch({ range }))}>
            {own !== undefined && <Menu.RadioItem value={own}>{timeText(time)}</Menu.RadioItem>}
            {keysOf(RANGES).map((range) => (
              <Menu.RadioItem key={range} value={range}>
                {RANGES[range]}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          <Menu.Divider />
          <Menu.Item onClick={() => setChoosing(true)}>{t`Custom…`}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <CustomRangeDialog
        opened={isChoosing}
        time={time}
        onClose={() => setChoosing(false)}
        onChange={(days) => {
          setChoosing(false);
          onChange(days);
        }}
      />
    </>
  );
}
