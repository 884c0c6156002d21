import { afterAll, describe, expect, it } from 'vitest';
import { ask, labCheck } from './mailbox.ts';
import { BENCH } from './personas.ts';
import { startSmtp } from './smtp.ts';

const printed: string[] = [];
const show = ([finding, catchAll]: readonly [string, string]) => `${finding}, catch-all ${catchAll}`;

describe('the expected finding of each server', () => {
  afterAll(() => {
    process.stdout.write(`${printed.sort().join('\n')}\n`);
  });

  it.concurrent.each(BENCH.map((row) => [row.name, row] as const))('%s', async (name, row) => {
    const server = await startSmtp(row.persona);
    const check = labCheck(server.port);
    const email = row.email ?? 'good@x.test';
    const silent = row.yields[0] === 'smtp_timeout';
    const found = [];
    for (const wanted of row.again === undefined ? [row.yields] : [row.yields, row.again]) {
      const { smtp, catchAll } = await ask(check, { email, ms: silent ? 400 : 5_000 });
      const got = [smtp.finding, catchAll.result] as const;
      found.push(show(got));
      expect(show(got), JSON.stringify(smtp.transcript.lines, null, 1)).toBe(show(wanted));
    }
    await server.idle();
    printed.push(`  ${name.padEnd(54)}${found.join(', then ')}`);
    expect(server.early).toEqual([]);
    expect(server.verbs()).not.toContain('DATA');
    for (const { commands } of server.connections) {
      if (commands.length === 0) continue;
      const dropped = name.startsWith('drops') || name === 'STARTTLS demanded and broken';
      if (!dropped) expect(commands.at(-1)?.verb).toBe('QUIT');
      const paths = commands.filter(({ verb }) => verb === 'RCPT').map(({ path }) => path);
      // In its own session the probe comes first, because the real address was in an earlier one.
      if (paths.length > 0 && commands[0]!.connection === 0) expect(paths[0]).toBe(email);
    }
    await check.close();
    await server.close();
  });
});
