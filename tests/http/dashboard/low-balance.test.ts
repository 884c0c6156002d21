import { expect, it, vi } from 'vitest';
import { createSeekAlerts } from '../../../src/service/alerts.ts';
import { type MailSink, startMailSink } from '../../lab/mail-sink.ts';
import { retryNow } from '../../lab/retry.ts';
import { startLab } from '../../lab/service.ts';
import { of, signedIn } from './client.ts';

/** Several sign-ins with deliberately slow password hashing, and mails. */
vi.setConfig({ testTimeout: 60_000 });

const recipients = (sink: MailSink) => sink.mails.flatMap(({ to }) => to).sort();

it('owners and admins get one mail, whichever node sends it, and another one after a recovery', async () => {
  const sink = await startMailSink();
  const lab = await startLab({ MAILVET_MAIL_URL: sink.url });
  const member = await lab.member({ credits: 6 });
  const owner = await signedIn(lab, { account: member.account, role: 'owner' });
  const admin = await signedIn(lab, { account: member.account, role: 'admin' });
  await signedIn(lab, { account: member.account, role: 'member' });
  await signedIn(lab, { account: member.account, role: 'viewer' });
  const [one, two] = [1, 2].map(() => createSeekAlerts({ store: lab.store, egressHealth: () => null }));
  /** Of two nodes at once; then every mail that they caused is sent. */
  const rounds = async () => {
    await Promise.all([one!(), two!(), one!()]);
    const mails = async () => (await lab.store.jobs.list({ failed: false, limit: 100 })).items.map(({ kind }) => kind);
    await expect.poll(mails, { timeout: 10_000 }).not.toContain('alert_mail');
  };

  await owner.call('PUT', of(member.account, '/low-balance'), { credits: 5 });
  await rounds();
  expect(recipients(sink)).toEqual([]);

  for (const email of ['a@good.com', 'b@good.com']) await member.verify(email);
  await rounds();
  await rounds();
  expect(recipients(sink)).toEqual([owner.person.email, admin.person.email].sort());
  const [letter] = sink.mails;
  expect(letter!.text).toContain('The account has 4 credits left, below the alert threshold of 5.');
  expect(letter!.text).toContain(`${lab.url}/accounts/${member.account.id}`);

  await lab.store.accounts.grant(member.account.id, 10, 'more');
  await rounds();
  expect(sink.mails).toHaveLength(2);
  await lab.store.accounts.grant(member.account.id, -12, 'fewer');
  await rounds();
  expect(sink.mails).toHaveLength(4);
  await lab.close();
  await sink.close();
});

it('a mail that could not be delivered is retried and sent once', async () => {
  let down = true;
  const sink = await startMailSink({ on: ({ verb }) => (down && verb === 'MAIL' ? '451 4.3.0 not now' : undefined) });
  const lab = await startLab({ MAILVET_MAIL_URL: sink.url });
  const member = await lab.member({ credits: 3 });
  const owner = await signedIn(lab, { account: member.account });
  await owner.call('PUT', of(member.account, '/low-balance'), { credits: 9 });
  // The service looks for such accounts by itself, every half a minute; another job does so at once.
  await lab.store.jobs.add({ kind: 'low_balance', payload: {}, key: 'now' });
  const mailJob = async () =>
    (await lab.store.jobs.list({ failed: false, limit: 100 })).items.find(({ kind }) => kind === 'alert_mail');
  await expect.poll(async () => (await mailJob())?.lastError, { timeout: 40_000 }).toMatch(/451 to MAIL/);
  expect(sink.mails).toHaveLength(0);
  down = false;
  await retryNow(lab.databaseUrl, 'alert_mail');
  await expect.poll(mailJob, { timeout: 40_000 }).toBeUndefined();
  expect(recipients(sink)).toEqual([owner.person.email]);
  await lab.close();
  await sink.close();
});
