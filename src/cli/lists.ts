import { Command } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import { command, Failed, optionsFrom, say, sentenceOf } from './command.ts';

export function listsCommand(): Command {
  const group = new Command('lists').description('The lists of disposable, free and relay domains.');
  group.addCommand(update());
  group.addCommand(show());
  return group;
}

const update = () =>
  command('update', 'Fetch the newest disposable list; the service takes it without a restart.', 'lists').action(
    async (flags: { json?: boolean }) => {
      const options = optionsFrom(flags, 'lists');
      const { updateLists } = await import('../engine/lists/update.ts');
      const summary = await updateLists({
        dir: options.listsDir,
        urls: { disposable: options.listsDisposableUrl, fakefilter: options.listsFakefilterUrl },
        fetchText,
        clock: systemClock,
      }).catch((error: unknown) => {
        throw new Failed(sentenceOf(error));
      });
      say(
        flags,
        summary,
        `Version ${summary.version}: ${summary.total} disposable domains, ${summary.added} new, ${summary.removed} gone.`,
      );
    },
  );

const show = () =>
  command('show', 'Say why a domain is, or is not, on the lists.', 'lists')
    .argument('<domain>')
    .action(async (domain: string, flags: { json?: boolean }) => {
      const { watchLists } = await import('../engine/lists/watch.ts');
      const lists = watchLists(optionsFrom(flags, 'lists').listsDir, systemClock).current;
      const found = lists.explain(domain.trim().toLowerCase());
      const { explanationLines } = await import('../engine/lists/explain.ts');
      say(flags, found, explanationLines(found).join('\n'));
    });

/** One text over HTTP(S), bounded in size and time. Throws with a sentence that names the address. */
async function fetchText(url: string, limit: { maxBytes: number; timeoutMs: number }): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(limit.timeoutMs), redirect: 'follow' }).catch(
    (error: unknown) => {
      throw new Failed(`${url} cannot be fetched: ${sentenceOf((error as Error).cause ?? error)}`);
    },
  );
  if (!response.ok) throw new Failed(`${url} answered ${response.status}.`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > limit.maxBytes) throw new Failed(`${url} is larger than ${limit.maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
