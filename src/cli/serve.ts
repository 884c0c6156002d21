import type { Command } from 'commander';
import {
  type Options,
  readEnvironmentFileAgain,
  serviceManager,
  systemEnvironment,
  unknownVariables,
  writesToJournal,
} from '../config/read.ts';
import { messageOf } from '../kernel/errors.ts';
import type { Logger } from '../kernel/log.ts';
import { COMMIT, VERSION } from '../kernel/version.ts';
import type { Service } from '../main.ts';
import { creditsText } from './account.ts';
import { CommandFailure, command, optionsFrom } from './command.ts';
import { Systemd } from './systemd.ts';
import { aborted, exitSoon, onTerminal, Termination } from './termination.ts';

export const serveCommand = (): Command =>
  command('serve', 'Run the service.')
    .option(
      '--first-account',
      'if the store is empty, create an account with unlimited credits and an API key and print them; ' +
        'if there is no dashboard user, print a one-time setup link',
    )
    .action(async (flags: { json?: boolean; firstAccount?: boolean }) => {
      const options = optionsFrom(flags, 'serve');
      const { createLogger } = await import('../kernel/log.ts');
      const termination = new Termination();
      const { signal } = termination;
      const logger = createLogger(options.logLevel, { journal: writesToJournal() });
      for (const problem of unknownVariables(systemEnvironment())) logger.warn(problem);
      try {
        const clean = await serve(options, logger, termination, flags);
        if (!clean) process.exitCode = 1;
      } catch (error) {
        // It was stopped during the start, and nothing failed.
        if (!signal.aborted || error !== signal.reason) throw new CommandFailure(messageOf(error));
      } finally {
        exitSoon();
      }
    });

/** Runs the service until a signal stops it; returns whether everything was closed. */
async function serve(
  options: Options,
  logger: Logger,
  termination: Termination,
  flags: { json?: boolean; firstAccount?: boolean },
): Promise<boolean> {
  const { startService } = await import('../main.ts');
  const hangUps = new HangUps(options, () => reloadOptions(flags, logger));
  const systemd = new Systemd(serviceManager(), logger);
  const service = await startService(options, logger, { signal: termination.signal });
  try {
    hangUps.reload(service);
    const info = await startupInfo(service, options, flags.firstAccount === true);
    if (flags.json) process.stdout.write(`${JSON.stringify(info)}\n`);
    else if (flags.firstAccount || process.stdout.isTTY)
      process.stdout.write(startupText(info, flags.firstAccount === true, options));
    logStart(service, info, logger);
    systemd.ready(`Listening on ${info.address}`);
    await aborted(termination.signal);
    systemd.stopping();
    service.drain();
    await termination.drain(drainMs(options));
    logger.info('stopping: requests in flight finish first');
  } catch (error) {
    await service.stop();
    throw error;
  }
  const unclosed = await service.stop();
  logger.flush();
  return unclosed.length === 0;
}

/**
 * SIGHUP asks to read the options and the egress file again. Where there is no such file, a terminal that is closed
 * ends the service, as it ends other commands.
 */
class HangUps {
  #service: Service | null = null;
  /** Says that a drain was asked for during the start. */
  #isDue = false;
  readonly #read: () => Options | null;

  constructor({ smtpEgressFile }: Options, readOptionsAgain: () => Options | null) {
    this.#read = readOptionsAgain;
    if (smtpEgressFile === null && onTerminal()) return;
    process.on('SIGHUP', () => {
      if (this.#service === null) this.#isDue = true;
      else void this.#service.reload(this.#read());
    });
  }

  /** Later requests reload `service`; one that came before there was a service is met now. */
  reload(service: Service): void {
    this.#service = service;
    if (this.#isDue) void service.reload(this.#read());
  }
}

/** The options as they are now, with the files of secrets; null, and a line in the log, if some have mistakes. */
function reloadOptions(flags: object, logger: Logger): Options | null {
  try {
    readEnvironmentFileAgain();
    return optionsFrom(flags, 'serve');
  } catch (error) {
    logger.error({ problems: messageOf(error).split('\n') }, 'the options stay as they were: some have mistakes');
    return null;
  }
}

/** Nobody sends requests to a worker. */
const drainMs = ({ role, drainSeconds }: Options): number => (role === 'worker' ? 0 : drainSeconds * 1000);

async function startupInfo(service: Service, options: Options, firstAccountWanted: boolean): Promise<StartupInfo> {
  const { firstAccount } = await import('../service/first-account.ts');
  const first = firstAccountWanted ? await firstAccount(service.store) : null;
  return {
    url: service.url,
    address: service.address,
    key: first?.key ?? null,
    test_key: first?.testKey ?? null,
    credits: first && creditsText(first.account),
    setup_url: firstAccountWanted && options.role !== 'worker' ? await service.setupLink() : null,
    setup_command: options.role === 'worker' ? null : await service.setupCommand(),
  };
}

interface StartupInfo {
  readonly url: string;
  /** Where it listens. */
  readonly address: string;
  /** The first account's API key, if it was just created. */
  readonly key: string | null;
  /** This key is of the first account's test account. */
  readonly test_key: string | null;
  /** States the balance of the first account, as text. */
  readonly credits: string | null;
  /** One-time setup link; null if there already is a user or the flag was not given. */
  readonly setup_url: string | null;
  /** Makes the first user; null if there already is one. */
  readonly setup_command: string | null;
}

/** The log has no secrets: the keys and the link are printed alone. */
function logStart({ address, url }: Service, { setup_url, setup_command }: StartupInfo, logger: Logger): void {
  logger.info({ address, url, version: VERSION, commit: COMMIT, node: process.version }, 'listening');
  if (setup_command !== null && setup_url === null)
    logger.info({ command: setup_command }, 'nobody can sign in yet: this command makes the first user');
  logger.flush();
}

function startupText(info: StartupInfo, firstAccountWanted: boolean, { command: own }: Options): string {
  const { url, address, key, test_key, credits, setup_url, setup_command } = info;
  const lines = [
    `Mailvet is listening on ${address}`,
    `API reference: ${url}/docs`,
    `Dashboard: ${setup_url ?? `${url}/`}`,
  ];
  if (key !== null && test_key !== null) {
    lines.push(
      '',
      `This store was empty: it now has an account with ${credits} and two keys.`,
      'Credits are bookkeeping on your own server. Save the keys now; they are not shown again.',
      '',
      'A first request, with the test key. It needs no DNS and no port 25, and costs nothing:',
      '',
      ...curl(url, test_key, { email: 'deliverable@example.com', validation_type: 'smtp' }),
      '',
      'A real one, with the live key:',
      '',
      ...curl(url, key, { email: 'someone@gmail.com' }),
      '',
    );
  } else if (firstAccountWanted) {
    lines.push(
      `The store already has an account. For a new key, run ${own} account list and`,
      `  ${own} key create --account <id> --name <name>`,
    );
  }
  if (setup_command !== null && setup_url === null)
    lines.push('Nobody can sign in yet. For a link that makes the first user, run', `  ${setup_command}`);
  return `${lines.join('\n')}\n`;
}

const curl = (url: string, key: string, body: Readonly<Record<string, string>>): string[] => [
  `curl -s ${url}/v1/verify \\`,
  `  -H 'Authorization: Bearer ${key}' \\`,
  `  -H 'Content-Type: application/json' \\`,
  `  -d '${JSON.stringify(body)}'`,
];
