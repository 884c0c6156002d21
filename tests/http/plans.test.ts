/** A service with plans of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab } from '../lab/service.ts';
import { signedIn } from './dashboard/client.ts';

const folder = mkdtempSync(join(tmpdir(), 'mailvet-plans-'));
const file = join(folder, 'plans.yaml');
writeFileSync(
  file,
  `small: {requests_per_window: 40, levels: [mx], prices: {mx: 3}, monthly_credits: 10}
team: {requests_per_window: 700, prices: {mx: 2, smtp: 20, unknown: 4}}
house: {requests_per_window: 100000, monthly_credits: unlimited}
`,
);
let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ MAILVET_PLANS_FILE: file });
});
afterAll(async () => {
  await lab.close();
  rmSync(folder, { recursive: true });
});

describe('plans of one’s own', () => {
  it('say what a check costs, what is given each month, and which plan has a level', async () => {
    const member = await lab.member({ plan: 'small', credits: 5 });
    const first = await member.verify('a@good.com');
    expect(first.json).toMatchObject({ credits_used: 3, validation_type: 'mx' });
    expect(first.headers.get('x-credits-remaining')).toBe('12');
    expect(first.headers.get('ratelimit-policy')).toBe('"small";q=40;w=300');
    const { json } = await member.call('GET', '/v1/usage');
    expect(json).toMatchObject({
      plan: 'small',
      credits: { total: 12, used: 3, remaining: 12, unlimited: false, allowance: 7, purchased: 5 },
      validation_types: { mx: { credits: 3, available: true }, smtp: { available: false, upgrade_required: 'team' } },
      unknown_credits: 1,
    });
    const refused = await member.verify('a@good.com', { validation_type: 'smtp' });
    expect([refused.status, refused.json]).toMatchObject([402, { current_plan: 'small', upgrade_required: 'team' }]);
    for (let i = 0; i < 4; i++) await member.verify('a@good.com');
    expect((await member.verify('a@good.com')).json.code).toBe('insufficient_credits');
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it('hold the highest price of a level, and charge what the answer costs', async () => {
    const member = await lab.member({ plan: 'team', credits: 20 });
    const { json } = await member.verify('a@good.com', { validation_type: 'smtp' });
    expect(json.credits_used).toBe({ smtp: 20, mx: 4 }[json.validation_type as 'mx' | 'smtp']);
    const missing = await (await lab.member({ plan: 'team', credits: 20 })).verify('a..b@good.com');
    expect(missing.json.credits_used).toBe(2);
    const poor = await lab.member({ plan: 'team', credits: 19 });
    expect((await poor.verify('a@good.com', { validation_type: 'smtp' })).status).toBe(402);
  });

  it('are unlimited where they say so', async () => {
    const member = await lab.member({ plan: 'house', credits: 0 });
    expect((await member.verify('a@good.com')).status).toBe(200);
    expect((await member.call('GET', '/v1/usage')).json.credits).toMatchObject({ used: 1, unlimited: true });
  });

  it('are those that operators choose from; any other is refused by name', async () => {
    const member = await lab.member({ plan: 'small' });
    const operator = await signedIn(lab, { account: member.account, role: 'owner', operator: true });
    const { json } = await operator.call('GET', '/dashboard/operator/plans');
    expect(
      json.plans.map(({ name, monthly_credits }: { name: string; monthly_credits: number | null }) => [
        name,
        monthly_credits,
      ]),
    ).toEqual([
      ['small', 10],
      ['team', 0],
      ['house', null],
    ]);
    const path = `/dashboard/operator/accounts/${member.account.id}`;
    expect((await operator.call('PATCH', path, { plan: 'team' })).json).toMatchObject({ plan: 'team' });
    expect(await operator.call('PATCH', path, { plan: 'premium' })).toMatchObject({
      status: 400,
      json: { error: 'plan must be "small", "team" or "house".', field: 'plan' },
    });
  });

  it('cannot be left out while accounts have them: the service does not start, and says how many', async () => {
    const again = { MAILVET_DATABASE_URL: lab.databaseUrl };
    await expect(startLab(again)).rejects.toThrow(
      /has 1 account of plan "house", 1 account of plan "small", 4 accounts of plan "team", .*MAILVET_PLANS_FILE/,
    );
    writeFileSync(`${file}.wrong`, 'a: {requests_per_window: x}\nb: 1\n');
    await expect(startLab({ MAILVET_PLANS_FILE: `${file}.wrong` })).rejects.toThrow(
      /wrong:1: a: requests_per_window: give a whole number.*\n.*wrong:2: b: give a mapping/,
    );
    await expect(startLab({ MAILVET_PLANS_FILE: join(folder, 'none') })).rejects.toThrow(/cannot read .* \(ENOENT\)/);
  });
});
