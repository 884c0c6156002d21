import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseEgressFile } from './egress-file.ts';
import { readOptions } from './read.ts';

const dir = mkdtempSync(join(tmpdir(), 'mailvet-egress-'));
afterAll(() => rmSync(dir, { recursive: true }));
const path = join(dir, 'egress.yaml');
const providers = () => new Set(['google', 'microsoft', 'yahoo']);

const read = (text: string, isLaboratory = false) => parseEgressFile(text, { path, isLaboratory, providers });
function good(text: string, isLaboratory = false) {
  const found = read(text, isLaboratory);
  if (!found.ok) throw new Error(found.problems.join('\n'));
  return found.egresses;
}
/** Without the path. */
function problems(text: string): string[] {
  const found = read(text);
  return found.ok ? [] : found.problems.map((problem) => problem.replace(`${path}:`, ''));
}

describe('the egress file', () => {
  it('has entries with a local address, or with a SOCKS server', () => {
    const egresses = good(`
- name: fra-1
  helo: Probe1.example.com
  bind: 127.0.0.1
- name: vps-2
  helo: probe2.example.com
  from: verify@example.com
  via: socks5h://user:p%40ss@vps2.example.com:1081
  families: [ipv4]
  weight: 2.5
  operators: {only: [google, microsoft]}
- name: vps-3
  helo: probe3.example.com
  from: <>
  via: socks5+tls://[2001:db8::5]
  operators:
    except:
      - yahoo
`);
    expect(egresses).toMatchObject([
      { name: 'fra-1', helo: 'probe1.example.com', from: 'verify@probe1.example.com', bind: '127.0.0.1', via: null },
      {
        name: 'vps-2',
        from: 'verify@example.com',
        bind: null,
        via: { host: 'vps2.example.com', port: 1081, tls: false },
      },
      { name: 'vps-3', from: '<>', via: { host: '2001:db8::5', port: 1080, tls: true }, families: [4, 6], weight: 1 },
    ]);
    expect(egresses[0]).toMatchObject({ families: [4], weight: 1, operators: null });
    expect(egresses[1]).toMatchObject({ families: [4], weight: 2.5, operators: { only: ['google', 'microsoft'] } });
    expect(egresses[2]?.operators).toEqual({ except: ['yahoo'] });
    expect(egresses[1]?.via?.credentials()).toEqual({ user: 'user', password: 'p@ss' });
    expect(egresses[2]?.via?.credentials()).toBeNull();
    expect(JSON.stringify(egresses)).not.toMatch(/p@ss|p%40ss/);
  });

  it('may have the password, and the certificate of the server, in files next to it', () => {
    writeFileSync(join(dir, 'token'), 'a token\n');
    writeFileSync(join(dir, 'ca.pem'), '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n');
    const [egress] = good(
      '- {name: a, helo: a.example.com, via: "socks5+tls://vps.example.com", password_file: token, ca_file: ca.pem}',
    );
    expect(egress?.via?.credentials()).toEqual({ user: 'mailvet', password: 'a token' });
    expect(egress?.via?.ca).toContain('BEGIN CERTIFICATE');
  });

  it('may be that of docs/egress.md, on a host that has the address', () => {
    const [, sample = ''] = /```yaml\n(.*?)```/s.exec(readFileSync('docs/egress.md', 'utf8')) ?? [];
    writeFileSync(join(dir, 'vps-2.token'), 'a token');
    const [fra, vps] = good(sample.replace('192.0.2.10', '127.0.0.1'));
    expect(fra).toMatchObject({ name: 'fra-1', helo: 'probe1.example.com', via: null });
    expect(vps).toMatchObject({ name: 'vps-2', weight: 2, operators: { only: ['google', 'microsoft'] } });
    expect(vps?.via?.credentials()).toEqual({ user: 'mailvet', password: 'a token' });
  });

  it('in a laboratory, names need not be qualified', () => {
    expect(good('- {name: a, helo: laptop, bind: 127.0.9.1}', true)).toMatchObject([{ from: 'verify@laptop' }]);
  });

  it('is refused with all its mistakes at once, each with its line', () => {
    const found = problems(`
- name: fra-1
  helo: localhost
- name: fra-1
  helo: probe1.example.com
  from: verify
- name: vps 2
  helo: probe2.example.com
  via: socks5://vps2.example.com:1080
- name: vps-3
  helo: probe3.example.com
  bind: 192.0.2.10
  operators: {only: [google], except: [gogle]}
- name: vps-4
  helo: probe4.example.com
  bind: 127.0.0.1
  via: https://user:hunter2@vps4.example.com
  familes: [ipv4]
  weight: 0
- just text
- name: vps-5
  via: socks5://127.0.0.1
  password_file: none.txt
  families: [ipv5]
`);
    expect(found).toEqual([
      '3: helo "localhost": give a fully qualified name such as mail.example.com.',
      '4: another entry has the name "fra-1": see line 2.',
      '6: from "verify": give an address at a fully qualified domain, or <>.',
      '7: name "vps 2": give up to 64 letters, digits, dots, hyphens and underscores.',
      '9: via: a SOCKS server on a public address needs a password, or TLS (socks5+tls).',
      '12: bind 192.0.2.10 is not an address of this host.',
      '13: operators: only and except together: keep one of them.',
      '13: operators: the data knows no operator "gogle"; did you mean google?',
      '17: via: give socks5://user:password@host:1080, or socks5h:// or socks5+tls:// likewise.',
      '17: bind and via together: keep one of them.',
      '18: an entry: "familes" is no key here; did you mean families?',
      '19: weight "0": give a number above 0, up to 1000.',
      '20: an entry: give a mapping of name, helo, from, bind, via, password_file, ca_file, families, weight, operators.',
      '21: helo is missing: give the name for EHLO.',
      '23: password_file: cannot read "none.txt" (ENOENT); give a file that this user may read.',
      '24: families: give a list of ipv4 and ipv6.',
    ]);
    expect(found.join('\n')).not.toContain('hunter2');
  });

  it.each([
    ['', '1: give a list with an entry for each egress, such as "- name: fra-1".'],
    ['name: a', '1: give a list with an entry for each egress, such as "- name: fra-1".'],
    ['- name: a\n  name: b\n  helo: a.example.com', '2: no YAML: Map keys must be unique'],
    ['- {name: a', /^1: no YAML: /],
    ['- &a {name: a, helo: a.example.com}\n- *a', /^2: an entry: give a mapping/],
    [`# ${'x'.repeat(300_000)}`, '1: the file is too long: at most 256 KB.'],
    [
      '- {name: a, helo: a.example.com, via: "socks5://u:%zz@127.0.0.1"}',
      '1: via: write % in user and password as %25.',
    ],
    ['- {name: a, helo: a.example.com, operators: {}}', /^1: operators: give only or except/],
    ['- {name: a, helo: a.example.com, operators: {only: []}}', /^1: operators: only: give a list/],
    ['- {name: a, helo: a.example.com, bind: 127.0.0.1, families: [ipv6]}', '1: families: bind is an address of ipv4.'],
    [
      `- {name: a, helo: a.example.com, via: "socks5://u:${'x'.repeat(256)}@127.0.0.1"}`,
      /^1: via: give a password, and at most 255 octets/,
    ],
  ])('%j is refused', (text, expected) => {
    const found = problems(text);
    if (typeof expected === 'string') expect(found).toEqual([expected]);
    else expect(found).toEqual([expect.stringMatching(expected)]);
  });
});

it('the short form and the file exclude each other', () => {
  const { problems: found } = readOptions({
    MAILVET_SMTP_EGRESS_FILE: path,
    MAILVET_SMTP_HELO: 'a.example.com',
    MAILVET_SMTP_BIND: '192.0.2.1',
  }) as { problems: string[] };
  expect(found).toEqual(
    ['HELO', 'BIND'].map(
      (name) =>
        `MAILVET_SMTP_${name} and MAILVET_SMTP_EGRESS_FILE are both set: remove the first and write it into the file.`,
    ),
  );
});
