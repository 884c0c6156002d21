import { afterEach, describe, expect, it } from 'vitest';
import { createVerifier, VerificationUnavailableError, type Verifier, VerifierClosedError } from '../../src/index.ts';
import { CONTROL_ZONE, type DnsLab, FALSE_ANSWERS, zone } from '../lab/dns.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function verifierOn(options: Parameters<typeof createVerifier>[0] = {}): Promise<[Verifier, DnsLab]> {
  const dns = await zone({
    ...CONTROL_ZONE,
    'mx.gmail.com': { A: ['142.250.102.27'] },
    'slow.com': { fault: 'silent' },
  });
  const verifier = createVerifier({ dnsServers: [`127.0.0.1:${dns.port}`], ...options });
  opened.push(dns, verifier);
  return [verifier, dns];
}

it('asks the DNS about a top-level domain that no list has', async () => {
  const [verifier, dns] = await verifierOn();
  dns.set('alive.newtld', { MX: [[10, 'mx.gmail.com']] });
  expect(await verifier.verify('a@alive.newtld')).toMatchObject({ status: 'good', reason: null });
  expect(await verifier.verify('a@b.nosuchtld')).toMatchObject({
    reason: 'invalid_format',
    checks: { syntax: { error: 'unknown_tld', index: 4 } },
  });
  dns.set('later.co.za', { MX: [[10, 'mx.gmail.com']] });
  expect(await verifier.verify('a@later.co.za')).toMatchObject({ status: 'good' });
});

describe('a closed verifier', () => {
  it('says that it is closed', async () => {
    const [verifier] = await verifierOn();
    expect((await verifier.verify('a@gmail.com')).status).toBe('good');
    verifier.close();
    const refused = verifier.verify('a@gmail.com');
    await expect(refused).rejects.toThrow(VerifierClosedError);
    await expect(refused).rejects.toThrow(/closed/);
    await expect(verifier.verify('a..b@gmail.com')).rejects.toThrow(VerifierClosedError);
  });

  it('says so as well to checks that were running', async () => {
    const [verifier, dns] = await verifierOn();
    const running = verifier.verify('a@slow.com');
    await expect.poll(() => dns.asked('slow.com')).toBe(1);
    verifier.close();
    await expect(running).rejects.toThrow(VerifierClosedError);
  });
});

describe('options that cannot be used', () => {
  const call = (run: (options: never) => unknown, options: object | null) => () =>
    Reflect.apply(run, undefined, [options]);

  it.each([
    [{ dnsServer: ['127.0.0.1'] }, /^createVerifier has no option dnsServer; it has dnsServers, dnsTimeoutMs, /],
    [{ smtp: { helo: 'a.example.net', rate: 1 } }, /^smtp has no option rate; it has helo, from, /],
    [null, /^createVerifier: the options must be an object/],
    [{ dnsServers: '127.0.0.1' }, /^createVerifier: dnsServers must be an array of strings/],
    [{ dnsServers: [] }, /^dnsServers: "" is not an IP address/],
    [{ dnsTimeoutMs: -5 }, /^createVerifier: dnsTimeoutMs must be a number from 50 to 10,000/],
    [{ dnsTimeoutMs: Number.NaN }, /dnsTimeoutMs/],
    [{ dnsControlNames: 'com' }, /dnsControlNames must be an array of strings/],
    [{ allowPrivateNetworks: 'yes' }, /allowPrivateNetworks must be true or false/],
    [{ listsDir: 5 }, /listsDir must be a string/],
    [{ smtp: null }, /smtp must be an object/],
    [{ smtp: {} }, /^smtp: helo is missing/],
    [{ smtp: { helo: 'localhost' } }, /\(helo\) must be a fully qualified host name/],
    [{ smtp: { helo: 'a.example.net', from: 'nobody' } }, /\(from\) must be an email address or <>/],
    [{ smtp: { helo: 'a.example.net', port: 99_999 } }, /^smtp: port must be a number from 1 to 65,535/],
    [{ smtp: { helo: 'a.example.net', bind: ['x'] } }, /bind must be an array of IP addresses/],
    [{ smtp: { helo: 'a.example.net', connectionsPerHost: 0 } }, /connectionsPerHost must be a number from 1 to 1,000/],
  ])('throw: %j', (options, message) => {
    expect(call(createVerifier, options)).toThrow(TypeError);
    expect(call(createVerifier, options)).toThrow(message);
  });

  it.each([
    [{ level: 'all' }, /^verify: level must be "mx" or "smtp"/],
    [{ timeoutMs: 999 }, /^verify: timeoutMs must be a number from 1,000 to 30,000/],
    [{ wait: -1 }, /^verify: wait must be a number from 0 to 86,400,000/],
    [{ signal: {} }, /^verify: signal must be an AbortSignal/],
  ])('reject a call: %j', async (options, message) => {
    const [verifier] = await verifierOn();
    await expect(Reflect.apply(verifier.verify, verifier, ['a@gmail.com', options])).rejects.toThrow(message);
  });

  it('reject a call', async () => {
    const [verifier] = await verifierOn();
    const refused = Reflect.apply(verifier.verify, verifier, ['a@gmail.com', { timeout: 1000 }]);
    await expect(refused).rejects.toThrow(/^verify has no option timeout; it has level, timeoutMs, /);
    await expect(Promise.resolve(refused).catch((error: unknown) => error)).resolves.toBeInstanceOf(TypeError);
  });

  it('do not include those that are undefined', async () => {
    const [verifier] = await verifierOn();
    const { status } = await verifier.verify('a..b@gmail.com', { level: 'mx', evidence: false });
    expect(status).toBe('bad');
  });
});

describe('a resolver that lies', () => {
  it.each(FALSE_ANSWERS)('%s for every name: no verdict that rests on DNS', async (how) => {
    const [verifier, dns] = await verifierOn();
    dns.answerFalsely(how);
    const refused = verifier.verify('a@gmail.com');
    await expect(refused).rejects.toThrow(VerificationUnavailableError);
    await expect(refused).rejects.toThrow(how === 'one address' ? /invents an address/ : /denies names that exist/);
    expect((await verifier.verify('a@mailinator.com')).reason).toBe('disposable_domain');
    await dns.resume();
    const again = () => verifier.verify('a@gmail.com').then((report) => report.status, String);
    await expect.poll(again, { timeout: 40_000 }).toBe('good');
  });

  it('is believed without control names', async () => {
    const [verifier, dns] = await verifierOn({ dnsControlNames: [] });
    dns.answerFalsely('nxdomain');
    expect((await verifier.verify('a@gmail.com')).reason).toBe('domain_not_found');
  });
});
