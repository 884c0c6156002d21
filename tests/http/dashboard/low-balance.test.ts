import { afterEach, expect, it, vi } from 'vitest';
import { createLogger } from '../../../src/kernel/log.ts';
import { createLowBalanceMails } from '../../../src/service/low-balance.ts';
import { createMail } from '../../../src/service/mail.ts';
import { type MailSink, startMailSink } from '../../lab/mail-sink.ts';
import { startLab } from '../../lab/service.ts';
import { of, signedIn } from './client.ts';

/** Several people are signed in, whose passwords are hashed slowly by design, and mails are sent. */
vi.setConfig({ testTimeout: 60_000 });
afterEach(() => vi.useRealTimers());

const told = (sink: MailSink) => sink.mails.flatMap(({ to }) => to).sort();

it('works: owners and admins are told once, by whichever node looks first; after a recovery again', async () => {
  const sink = await startMailSink();
  const lab = await startLab();
  const member = await lab.member({ credits: 6 });
  const owner = await signedIn(lab, { account: member.account, role: 'owner' });
  const admin = await signedIn(lab, { account: member.account, role: 'admin' });
  await signedIn(lab, { account: member.account, role: 'member' });
  const mail = createMail({ server: sink.url, from: 'mailvet@example.com', logger: createLogger('silent') });
  const node = () => createLowBalanceMails({ store: lab.store, mail, url: () => 'https://mail.example.com' });
  const [one, two] = [node(), node()];
  const rounds = async () => void (await Promise.all([one(), two(), one()]));

  await owner.call('PUT', of(member.account, '/low-balance'), { credits: 5 });
  await rounds();
  expect(told(sink)).toEqual([]);

  for (const email of ['a@good.com', 'b@good.com']) await member.verify(email);
  await rounds();
  await rounds();
  expect(told(sink)).toEqual([owner.person.email, admin.person.email].sort());
  const [letter] = sink.mails;
  expect(letter!.text).toContain(`"${member.account.name}" on Mailvet has 4 credits left, fewer than the 5`);
  expect(letter!.text).toContain('https://mail.example.com/');

  await lab.store.accounts.grant(member.account.id, 10, 'more');
  await rounds();
  expect(sink.mails).toHaveLength(2);
  await lab.store.accounts.grant(member.account.id, -12, 'fewer');
  await rounds();
  expect(sink.mails).toHaveLength(4);
  await lab.close();
  await sink.close();
});

it('a mail that no server took is sent in a later round, once', async () => {
  let down = true;
  const sink = await startMailSink({ on: ({ verb }) => (down && verb === 'MAIL' ? '451 4.3.0 not now' : undefined) });
  const lab = await startLab();
  const member = await lab.member({ credits: 3 });
  const owner = await signedIn(lab, { account: member.account });
  await owner.call('PUT', of(member.account, '/low-balance'), { credits: 9 });
  const mail = createMail({ server: sink.url, from: 'mailvet@example.com', logger: createLogger('silent') });
  const round = createLowBalanceMails({ store: lab.store, mail, url: () => lab.url });
  await round();
  await round();
  expect(sink.mails).toHaveLength(0);
  down = false;
  await round();
  await round();
  expect(told(sink)).toEqual([owner.person.email]);
  await lab.close();
  await sink.close();
});

it('the service does this by itself, every half minute', async () => {
  const sink = await startMailSink();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const lab = await startLab({ MAILVET_MAIL_URL: sink.url });
  const member = await lab.member({ credits: 1 });
  const owner = await signedIn(lab, { account: member.account });
  await owner.call('PUT', of(member.account, '/low-balance'), { credits: 9 });
  vi.advanceTimersByTime(30_000);
  expect((await sink.next(owner.person.email)).text).toContain('has 1 credits left');
  await lab.close();
  await sink.close();
});
