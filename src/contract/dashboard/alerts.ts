import Type from 'typebox';
import { ALERT_TYPES } from '../../kernel/facts/alerts.ts';
import { choice } from '../../kernel/format.ts';
import { OneOf, Time } from '../schema.ts';

const AlertField = OneOf(ALERT_TYPES);

export const AlertsReply = Type.Object(
  {
    mail: Type.Boolean({ description: 'Whether this service sends mail.' }),
    mails: Type.Array(AlertField, { description: 'Those that owners and admins are mailed.' }),
    mails_paused: Type.Boolean(),
    open: Type.Array(
      Type.Object({
        type: AlertField,
        subject: Type.String({ description: 'Id of what it is about; empty: the account.' }),
        since: Time,
      }),
      { description: 'What was reported and is not over, the latest first.' },
    ),
  },
  { title: 'Alerts' },
);

export const AlertsChange = Type.Object({
  mails: Type.Optional(
    Type.Array(AlertField, {
      maxItems: ALERT_TYPES.length,
      'x-error': `mails must be a list of any of ${choice(ALERT_TYPES)}.`,
    }),
  ),
  mails_paused: Type.Optional(Type.Boolean({ 'x-error': 'mails_paused must be true or false.' })),
});
