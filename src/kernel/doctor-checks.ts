/** The checks of the doctor, in the order of its report. */
export const DOCTOR_CHECKS = [
  'resolver',
  'port',
  'helo',
  'egress',
  'ptr',
  'spf',
  'blocklists',
  'lists',
  'store',
  'clock',
] as const;
export type DoctorCheck = (typeof DOCTOR_CHECKS)[number];
