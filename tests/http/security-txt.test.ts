import { afterEach, expect, it } from 'vitest';
import { readOptions } from '../../src/config/read.ts';
import { type Lab, request, startLab } from '../lab/service.ts';

const PATH = '/.well-known/security.txt';
let lab: Lab | null = null;
afterEach(async () => {
  await lab?.close();
  lab = null;
});

it('is published as RFC 9116 has it', async () => {
  lab = await startLab({
    MAILVET_SECURITY_CONTACT: 'security@example.net',
    MAILVET_PUBLIC_URL: 'https://verify.example.net',
  });
  const reply = await request(lab.url, 'GET', PATH);
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  const fields = new Map(
    reply.text
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(/: (.*)/s) as [string, string]),
  );
  expect(fields.get('Contact')).toBe('mailto:security@example.net');
  expect(fields.get('Canonical')).toBe(`https://verify.example.net${PATH}`);
  const days = (Date.parse(fields.get('Expires') ?? '') - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(30);
  expect(days).toBeLessThan(365);
});

it('does not exist without a contact', async () => {
  lab = await startLab();
  expect((await request(lab.url, 'GET', PATH)).status).toBe(404);
});

it.each([
  ['https://example.net/report', true],
  ['mailto:security@example.net', true],
  ['http://example.net/report', false],
  ['security', false],
  ['a@example.net\r\nContact: mailto:b@example.net', false],
])('the contact %j: %s', (contact, ok) => {
  expect(readOptions({ MAILVET_SECURITY_CONTACT: contact }).ok).toBe(ok);
});
