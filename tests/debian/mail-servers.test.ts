/**
 * Real mail servers, real DNS servers, and the replies of the large providers, with the expected verdicts in one table.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Laboratory, startLaboratory } from '../lab/debian/laboratory.ts';
import { TABLE } from '../lab/debian/table.ts';
import { printed, startServices, type TableResult, verifyTable } from '../lab/debian/verify-table.ts';
import type { Lab } from '../lab/service.ts';

let laboratory: Laboratory;
let labs: Record<'fit' | 'unfit', Lab>;
let asked: TableResult[];

beforeAll(async () => {
  // Not the network of `npm run lab`, which may be running.
  laboratory = await startLaboratory({ net: '127.53.26' });
  labs = await startServices(laboratory);
  asked = await verifyTable(labs, TABLE);
  console.log(printed(asked));
});
afterAll(async () => {
  await Promise.all(Object.values(labs ?? {}).map((lab) => lab.close()));
  await laboratory?.close();
});

/** A server's reply to a client that talks before the banner. */
async function talkAtOnce(octet: number): Promise<string> {
  const socket = connect({ host: `${laboratory.net}.${octet}`, port: laboratory.port });
  let heard = '';
  socket.setEncoding('utf8').on('data', (text) => {
    heard += text;
  });
  socket.write('EHLO early.test\r\nMAIL FROM:<>\r\nRCPT TO:<anna@pregreet.test>\r\nQUIT\r\n');
  await once(socket, 'close');
  return heard;
}

describe('the laboratory', () => {
  it.each(
    TABLE.map((row) => [row.egress ?? 'fit', row.server, row.email, row] as const),
  )('%s egress, %s: %s', (_, __, ___, row) => {
    const questions = asked.filter((one) => one.row === row);
    expect(questions).toHaveLength(row.again ? 2 : 1);
    for (const { found, expected, verdict, evidence } of questions) {
      expect(found, evidence).toEqual(expected);
      expect(verdict, evidence).toBe('as expected');
    }
  });

  it('no rejection of the client makes a mailbox bad', () => {
    const bad = asked.filter(({ row, found }) => row.egress === 'unfit' && found.status === 'bad');
    expect(bad.map(({ row }) => row.email)).toEqual([]);
  });

  it('charged each verdict once, and no hold is left', async () => {
    for (const egress of ['fit', 'unfit'] as const) {
      const spent = asked.filter(({ row }) => (row.egress ?? 'fit') === egress);
      const accounts = await labs[egress].store.accounts.list();
      const left = 100_000 - spent.reduce((sum, { found }) => sum + found.credits_used, 0);
      expect(accounts.map(({ balance }) => balance)).toContain(left);
      for (const { locked } of accounts) expect(locked).toBe(0);
      expect(await labs[egress].store.accounts.audit()).toEqual([]);
    }
  });

  it('postscreen rejects a client that talks before the banner', async () => {
    expect(await talkAtOnce(4)).toMatch(/^(220|550|521)[\s\S]*550 5\.5\.1 Protocol error/);
  });

  it('used STARTTLS only where it was required', async () => {
    const member = await labs.fit.member();
    const ask = async (email: string) => (await member.verify(email, { validation_type: 'smtp' })).json.checks.smtp.tls;
    expect(await ask('nobody@tls.test')).toBe(true);
    expect(await ask('nobody@eximtls.test')).toBe(true);
    expect(await ask('nobody@plain.test')).toBe(false);
  });
});
