/** A resolver that denies or invents every name: a container without a way out, a captive portal. */
import { expect, it } from 'vitest';
import { CONTROL_ZONE, FALSE_ANSWERS } from '../lab/dns.ts';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';

const WAIT_MAX_MS = 40_000;
const net = {
  ...CONTROL_ZONE,
  ...Object.fromEntries(CONTROL_ZONE['gmail.com']!.MX!.map(([, host]) => [host, { A: ['127.0.0.1'] }])),
};
/** The default control names. */
const DEFAULT = { MAILVET_DNS_CONTROL_NAMES: '' };

const ready = async (lab: Lab) => {
  const { status, json } = await request(lab.url, 'GET', '/readyz');
  return { status, resolver: json.checks.resolver };
};
const balanceOf = async (lab: Lab, { account }: Member) => (await lab.store.accounts.get(account.id))!.balance;

async function hasNoDnsVerdict(lab: Lab, member: Member, name: string): Promise<void> {
  for (const email of [`someone@${name}`, 'someone@gmail.com']) {
    const { status, json, headers } = await member.verify(email);
    expect([email, status, json.code]).toEqual([email, 503, 'verification_unavailable']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect(await balanceOf(lab, member)).toBe(100);
  expect((await member.verify('a..b@good.com')).json.reason).toBe('invalid_format');
  expect((await member.verify('a@mailinator.com')).json.reason).toBe('disposable_domain');
  expect(await balanceOf(lab, member)).toBe(98);
  // It is evaluated at most once a second.
  await expect
    .poll(() => ready(lab), { timeout: WAIT_MAX_MS })
    .toMatchObject({ status: 503, resolver: { status: 'failing' } });
}

it.each(FALSE_ANSWERS)('%s for every name: no verdicts from DNS, at the start and later, and recovery', async (how) => {
  const lab = await startLab(DEFAULT, { net, falseAnswers: how });
  try {
    const member = await lab.member({ credits: 100 });
    await hasNoDnsVerdict(lab, member, 'first.com');
    expect((await ready(lab)).resolver.reason).toMatch(how === 'one address' ? /every name/ : /denies/);
    await lab.dns.resume();
    await expect.poll(async () => (await ready(lab)).status, { timeout: WAIT_MAX_MS }).toBe(200);
    expect((await member.verify('someone@gmail.com')).json.status).toBe('good');
    expect((await member.verify('a@first.com')).json.reason).toBe('domain_not_found');
    expect(await balanceOf(lab, member)).toBe(96);

    lab.dns.answerFalsely(how);
    const other = await lab.member({ credits: 100 });
    await hasNoDnsVerdict(lab, other, 'later.com');
    await lab.dns.resume();
    await expect.poll(async () => (await other.verify('a@later.com')).status, { timeout: WAIT_MAX_MS }).toBe(200);
    expect((await other.verify('a@good.com')).json.status).toBe('good');
    expect(await lab.store.accounts.audit()).toEqual([]);
  } finally {
    await lab.close();
  }
});

it('a healthy service sends few control queries, however many addresses are dead', async () => {
  const lab = await startLab(DEFAULT, { net: { ...net, '*.alive.com': { MX: [[1, 'mx.good.com']] } } });
  try {
    const member = await lab.member({ credits: 1000, rateLimit: 10_000 });
    for (let i = 0; i < 60; i++) {
      expect((await member.verify(`a@x${i}.alive.com`)).json.status).toBe('good');
      expect((await member.verify(`a@dead${i}.com`)).json.reason).toBe('domain_not_found');
    }
    const controls = lab.dns.queries.filter(({ name }) => name in CONTROL_ZONE || name.endsWith('.invalid'));
    expect(controls.length).toBeLessThan(25);
  } finally {
    await lab.close();
  }
});
