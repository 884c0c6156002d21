import { t } from '@lingui/core/macro';
import { Modal, Select } from '@mantine/core';
import { chooseTimeZone, timeZone } from '../parts/time-zone.ts';

/** All that the browser knows; UTC is not among them everywhere. */
const zones = (): readonly string[] => [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), timeZone()])];

/** Asks for a time zone by its name; chosen, the page begins anew with it. */
export const TimeZoneDialog = ({ opened, onClose }: { opened: boolean; onClose: () => void }) => (
  <Modal opened={opened} onClose={onClose} title={t`Time zone`}>
    <Select
      label={t`City or region`}
      data-autofocus
      searchable
      nothingFoundMessage={t`No such time zone`}
      data={zones().map((value) => ({ value, label: value.replaceAll('_', ' ') }))}
      value={timeZone()}
      allowDeselect={false}
      onChange={(chosen) => chosen !== null && chooseTimeZone(chosen)}
      comboboxProps={{ portalProps: { target: '#content' } }}
    />
  </Modal>
);
