import * as C from '../../contract/dashboard/alerts.ts';
import { Done } from '../../contract/dashboard/session.ts';
import { toIso } from '../../kernel/clock.ts';
import { done } from '../access/session.ts';
import { nothingToChange } from '../reply.ts';
import { ACCOUNT_PATH, type Route, route } from '../route.ts';

const ALERTS_PATH = `${ACCOUNT_PATH}/alerts` as const;

/** Alerts by mail; those for chats and programs are webhooks. */
export const ALERT_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: ALERTS_PATH,
    access: 'viewer',
    cost: null,
    liveOnly: true,
    output: { content: C.AlertsReply },
    doc: { operationId: 'alerts', summary: 'Alerts that are mailed, and those that go on' },
    serve:
      ({ alerts }) =>
      async ({ account }) => {
        const { mail, mails, paused, open } = await alerts.settings(account);
        return {
          body: {
            mail,
            mails,
            mails_paused: paused,
            open: open.map(({ since, ...one }) => ({ ...one, since: toIso(since) })),
          },
        };
      },
  }),
  route({
    method: 'PATCH',
    path: ALERTS_PATH,
    access: 'admin',
    liveOnly: true,
    input: { body: C.AlertsChange },
    output: { content: Done },
    doc: { operationId: 'changeAlerts', summary: 'Choose which alerts are mailed, and pause them' },
    serve:
      ({ alerts }) =>
      async ({ account, actor }, { body: { mails, mails_paused: paused } }) => {
        if (mails === undefined && paused === undefined) throw nothingToChange('mails or mails_paused');
        await alerts.change(
          account,
          { ...(mails && { mails: [...new Set(mails)] }), ...(paused === undefined ? {} : { paused }) },
          actor,
        );
        return done('Alerts changed.');
      },
  }),
  route({
    method: 'POST',
    path: `${ALERTS_PATH}/test`,
    access: 'admin',
    liveOnly: true,
    output: { content: Done },
    doc: { operationId: 'testAlerts', summary: 'Mail a test to the user who asks for it' },
    serve:
      ({ alerts }) =>
      async ({ account, user }) => {
        await alerts.test(account, user.email);
        return done(`A test is on its way to ${user.email}.`);
      },
  }),
];
