import { t } from '@lingui/core/macro';
import { Menu } from '@mantine/core';
import { useState } from 'react';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { CustomRangeDialog } from './custom-range.tsx';
import { type MenuProps, useOpenedMenu } from './lazy-menu.tsx';
import { RANGES, type TimeSearch, timeSearch } from './time.ts';

export interface TimeChoice {
  readonly time: TimeSearch;
  readonly onChange: (time: TimeSearch) => void;
}

/** The times that can be chosen, in the menu of a `TimePicker`. */
export function TimeMenu({ target, children, time, onChange }: MenuProps & TimeChoice) {
  const menu = useOpenedMenu(target);
  const [isChoosing, setChoosing] = useState(false);
  return (
    <>
      <Menu position="bottom-end" portalProps={{ target: '#content' }} {...menu}>
        <Menu.Target>{children}</Menu.Target>
        <Menu.Dropdown aria-label={t`Time`}>
          <Menu.RadioGroup value={time.range ?? 'custom'} onChange={(range) => onChange(timeSearch({ range }))}>
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
