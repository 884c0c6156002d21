import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startReceiver } from '../../lab/receiver.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { runSql } from '../../lab/stores.ts';
import { type Client, of, signedIn } from './client.ts';

const DAY = 86_400_000;
let lab: Lab;
let member: Member;
let admin: Client;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());

/** A new account with an old key. */
async function account() {
  member = await lab.member();
  await runSql(lab.databaseUrl, `UPDATE keys SET created_at = ${Date.now() - 8 * DAY} WHERE id = '${member.keyId}'`);
  admin = await signedIn(lab, { account: member.account, role: 'admin' });
}
const overview = async (who = admin) => (await who.call('GET', of(member.account, '/overview'))).json;
const dismiss = (notice: unknown, who = admin) => who.call('POST', of(member.account, '/dismissals'), { notice });

describe('notices', () => {
  it('can be dismissed, each by the user alone', async () => {
    await account();
    const viewer = await signedIn(lab, { account: member.account, role: 'viewer' });
    expect((await overview(viewer)).keys).toMatchObject({ never_used: 1, open_to_all: 1 });
    expect((await dismiss('open_to_all', viewer)).status).toBe(200);
    // Twice is not an error.
    expect((await dismiss('open_to_all', viewer)).status).toBe(200);
    expect((await overview(viewer)).keys).toMatchObject({ never_used: 1, open_to_all: 0 });
    const listed = await viewer.call('GET', of(member.account, '/keys'));
    expect(listed.json.keys[0].notices).toEqual(['never_used']);
    expect((await overview()).keys).toMatchObject({ never_used: 1, open_to_all: 1 });
  });

  it('come back with another cause', async () => {
    await account();
    await dismiss('open_to_all');
    const made = await admin.call('POST', of(member.account, '/keys'), { name: 'Second', allow_ips: [] });
    const { id } = made.json.key;
    expect((await overview()).keys.open_to_all).toBe(0);
    await runSql(lab.databaseUrl, `UPDATE keys SET created_at = ${Date.now() - 8 * DAY} WHERE id = '${id}'`);
    expect((await overview()).keys.open_to_all).toBe(1);
    const idleSince = (days: number) =>
      runSql(lab.databaseUrl, `UPDATE keys SET last_used_at = ${Date.now() - days * DAY} WHERE id = '${id}'`);
    await idleSince(120);
    await dismiss('idle');
    expect((await overview()).keys.idle).toBe(0);
    // It was used once more, and is idle again.
    await idleSince(100);
    expect((await overview()).keys.idle).toBe(1);
  });

  it.each([undefined, 'nothing', 7, ['idle']])('of the name %j are refused', async (notice) => {
    await account();
    const { status, json } = await dismiss(notice);
    expect([status, json.field]).toEqual([400, 'notice']);
  });
});

describe('the steps of the first hour', () => {
  it('are ticked by what was done', async () => {
    await account();
    const steps = async (who = admin) => (await overview(who)).first_steps;
    const nothing = { key: true, call: false, allowlist: false, member: false, alert: false, doctor: null };
    expect(await steps()).toEqual(nothing);
    await member.verify('a@good.com');
    expect(await steps()).toEqual({ ...nothing, call: true });
    await admin.call('PATCH', of(member.account, `/keys/${member.keyId}`), { allow_ips: ['127.0.0.1'] });
    expect(await steps()).toEqual({ ...nothing, call: true, allowlist: true });
    await signedIn(lab, { account: member.account, role: 'member' });
    expect(await steps()).toEqual({ ...nothing, call: true, allowlist: true, member: true });
    // With the last one they are gone.
    await admin.call('PATCH', of(member.account, '/alerts'), { mails: ['list.failed'] });
    expect(await steps()).toBeNull();
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a threshold of credits', () => admin.call('PUT', of(member.account, '/low-balance'), { credits: 5 })],
    [
      'a chat',
      async () => {
        const chat = await startReceiver();
        const body = { url: `${chat.url}/services/T000`, format: 'slack', events: ['list.failed'] };
        expect((await admin.call('POST', of(member.account, '/webhooks'), body)).status).toBe(201);
        await chat.close();
      },
    ],
  ])('count %s as an alert', async (_what, set) => {
    await account();
    await set();
    expect((await overview()).first_steps.alert).toBe(true);
  });

  it('have the doctor for those who run the service, and are green when nothing fails', {
    timeout: 60_000,
  }, async () => {
    await account();
    const operator = await signedIn(lab, { account: member.account, role: 'owner', operator: true });
    expect((await overview(operator)).first_steps.doctor).toBe(false);
    const { json } = await operator.call('POST', '/dashboard/operator/doctor');
    const isGreen = json.checks.every(({ result }: { result: string }) => result !== 'fail');
    expect((await overview(operator)).first_steps.doctor).toBe(isGreen);
    expect(isGreen).toBe(false);
    const at = Date.now() + 1000;
    const findings = [{ check: 'store', result: 'pass', found: 'SQLite', fix: null, problem: null, egress: null }];
    const text = JSON.stringify({ findings, advice: [], tookMs: 1, at });
    await lab.store.sharedFiles.put({ name: 'doctor.json', made: new Date(at).toISOString(), text });
    expect((await overview(operator)).first_steps.doctor).toBe(true);
  });

  it('can be dismissed, and are not part of test mode', async () => {
    await account();
    const { status, json } = await admin.call('GET', `/dashboard/accounts/${member.account.id}_test/overview`);
    expect([status, json.first_steps]).toEqual([200, null]);
    await dismiss('first_steps');
    expect((await overview()).first_steps).toBeNull();
  });
});
