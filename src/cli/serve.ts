import type { Command } from 'commander';
import { command, Failed, optionsFrom, sentenceOf } from './command.ts';

export const serveCommand = (): Command =>
  command('serve', 'Run the service.')
    .option(
      '--first-account',
      'on an empty store, make an account (Premium, 10,000 credits) and a key, and print them; while nobody can sign in ' +
        'to the dashboard, print a one-time link for it',
    )
    .action(async (flags: { json?: boolean; firstAccount?: boolean }) => {
      const options = optionsFrom(flags, 'serve');
      const [{ createLogger }, { startService }] = await Promise.all([
        import('../kernel/log.ts'),
        import('../main.ts'),
      ]);
      // Listened for from here on: a signal during the start is as good as one after it.
      const asked = terminated();
      const logger = createLogger(options.logLevel);
      const service = await startService(options, logger).catch((error: unknown) => {
        throw new Failed(explain(error, options.host, options.port));
      });
      const { firstAccount } = await import('../service/first-account.ts');
      const first = flags.firstAccount ? await firstAccount(service.store) : null;
      const greeting: Greeting = {
        url: service.url,
        key: first?.key ?? null,
        setup_url: flags.firstAccount && options.role !== 'worker' ? await service.setupLink() : null,
      };
      const text = flags.json ? `${JSON.stringify(greeting)}\n` : inWords(greeting, flags.firstAccount === true);
      process.stdout.write(text);
      await asked;
      logger.info('stopping: requests in flight are finished first');
      await service.stop();
      logger.flush();
    });

function terminated(): Promise<void> {
  return new Promise((resolve) => {
    // Not `once`: a launcher and a service manager may both send it, and the second must not cut the drain short.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
}

function explain(error: unknown, host: string, port: number): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE')
    return `port ${port} of ${host} is in use: stop what listens there, or set MAILVET_PORT to another port.`;
  if (code === 'EACCES')
    return `port ${port} of ${host} may not be used by this user: set MAILVET_PORT to a port above 1023.`;
  if (code === 'EADDRNOTAVAIL') return `${host} is no address of this machine: correct MAILVET_HOST.`;
  return sentenceOf(error);
}

interface Greeting {
  readonly url: string;
  /** Of the first account, where it was made now. */
  readonly key: string | null;
  /** Makes the first sign-in, once; null where somebody can sign in, or nobody asked. */
  readonly setup_url: string | null;
}

function inWords({ url, key, setup_url }: Greeting, asked: boolean): string {
  const lines = [`Mailvet listens on ${url}`, `API reference: ${url}/docs`, `Dashboard: ${setup_url ?? `${url}/`}`];
  if (key !== null) {
    lines.push(
      '',
      'This store was empty: it now has an account with 10,000 credits and one key.',
      'The key is shown only now. Try it:',
      '',
      `curl -s ${url}/v1/verify \\`,
      `  -H 'Authorization: Bearer ${key}' \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d '{"email": "someone@gmail.com"}'`,
      '',
    );
  } else if (asked) {
    lines.push(
      'The store has an account already. For another key: npx mailvet account list, then',
      '  npx mailvet key create --account <id> --name <name>',
    );
  }
  return `${lines.join('\n')}\n`;
}
