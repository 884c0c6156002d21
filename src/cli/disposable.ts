import { Command } from 'commander';
import type { Options } from '../config/read.ts';
import { systemClock } from '../kernel/clock.ts';
import { messageOf } from '../kernel/errors.ts';
import { CommandFailure, command, optionsFrom, printResult } from './command.ts';

/** What `show` waits for DNS. */
const SHOW_DNS_MS = 4_000;

export function disposableCommand(): Command {
  const group = new Command('disposable').description('Manage the lists of disposable, free and relay domains.');
  group.addCommand(updateCommand());
  group.addCommand(show());
  return group;
}

const updateCommand = () =>
  command(
    'update',
    'Download the latest disposable list; a running service picks it up without a restart.',
    'disposable',
  ).action(async (flags: { json?: boolean }) => {
    const options = optionsFrom(flags, 'disposable');
    const { fetchLists, summaryLine } = await import('../service/disposable-lists.ts');
    const summary = await fetchLists(options, systemClock).catch((error: unknown) => {
      throw new CommandFailure(messageOf(error));
    });
    printResult(flags, summary, summaryLine(summary));
  });

const show = () =>
  command('show', 'Show whether a domain is listed, and why.', 'disposable')
    .argument('<domain>')
    .action(async (domain: string, flags: { json?: boolean }) => {
      const { explanationLines, hostLines, watchDomainData } = await import('../engine/data/domain-data.ts');
      const options = optionsFrom(flags, 'disposable');
      const lists = watchDomainData(options.listsDir, systemClock, { learned: options.listsLearnHosts }).current;
      const found = lists.explain(domain.trim().toLowerCase());
      const mail = await lookUpMailHosts(found.domain, options);
      // The name may itself be that of a mail host.
      const hosts = [...new Set([found.domain, ...mail])].map((host) => lists.explainHost(host));
      const known = hosts.filter(({ host, learned, refused }) => mail.includes(host) || learned || refused);
      const lines = [...explanationLines(found), ...known.flatMap(hostLines)];
      printResult(flags, { ...found, mail_hosts: known }, lines.join('\n'));
    });

/** The MX hosts of a domain and their addresses; none without an answer. */
async function lookUpMailHosts(domain: string, options: Options): Promise<string[]> {
  const [{ lookUpHosts }, { dnsForLearning }] = await Promise.all([
    import('../engine/data/learn.ts'),
    import('../main/dns-for-learning.ts'),
  ]);
  const dns = dnsForLearning(options, systemClock)();
  try {
    const lookUp = { ...dns, signal: AbortSignal.timeout(SHOW_DNS_MS) };
    const { hosts, addresses } = await lookUpHosts(domain, 'good', { isShared: () => false }, lookUp);
    return [...(hosts ?? []), ...addresses];
  } finally {
    dns.close();
  }
}
