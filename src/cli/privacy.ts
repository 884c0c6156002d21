import { once } from 'node:events';
import { Command } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import { counted } from '../kernel/format.ts';
import type { Store } from '../store/store.ts';
import { requireAccount } from './account.ts';
import { command, commandActor, optionsFrom, printResult, withStore } from './command.ts';

/** Reads only the store. */
const PRIVACY_OPTIONS = 'key';

interface PrivacyFlags {
  readonly json?: boolean;
  readonly account: string;
  readonly canonical?: boolean;
  readonly filters?: boolean;
}

export function privacyCommand(): Command {
  const group = new Command('privacy').description('Export and erase what an account holds about an email address.');
  group.addCommand(exporting());
  group.addCommand(erasing());
  return group;
}

const about = (name: string, description: string) =>
  command(name, description, PRIVACY_OPTIONS)
    .argument('<email>')
    .requiredOption('--account <id>', 'the account that holds it')
    .option('--canonical', 'all spellings of the mailbox, not this address alone');

async function serviceOf(store: Store) {
  const [{ createPrivacyService }, { Costs }] = await Promise.all([
    import('../service/privacy.ts'),
    import('../service/costs.ts'),
  ]);
  return createPrivacyService(store, { costs: new Costs(systemClock), clock: systemClock });
}

const exporting = () =>
  about('export', 'Print everything that is held about an address, as JSON.').action(
    async (email: string, flags: PrivacyFlags) => {
      await withStore(optionsFrom(flags, PRIVACY_OPTIONS), async (store) => {
        const { id } = await requireAccount(store, flags.account);
        const asked = { email, canonical: flags.canonical === true };
        const reading = await (await serviceOf(store)).export(id, asked, commandActor());
        try {
          for await (const piece of reading.pieces())
            if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
        } finally {
          reading.place.release();
        }
      });
    },
  );

const erasing = () =>
  about('erase', 'Erase what is held about an address; counters and charges remain.')
    .option('--filters', 'remove filters of the address as well')
    .action(async (email: string, flags: PrivacyFlags) => {
      await withStore(optionsFrom(flags, PRIVACY_OPTIONS), async (store) => {
        const { id } = await requireAccount(store, flags.account);
        const asked = { email, canonical: flags.canonical === true, filters: flags.filters === true };
        const { total, erased, kept } = await (await serviceOf(store)).erase(id, asked, commandActor());
        const rows = (counts: Readonly<Record<string, number>>) =>
          Object.entries(counts).map(([table, count]) => `  ${table}: ${count}`);
        const left = Object.keys(kept).length === 0 ? [] : ['Kept, though it mentions the address:', ...rows(kept)];
        const text = [`Erased ${counted(total, 'record')}.`, ...rows(erased), ...left].join('\n');
        printResult(flags, { erased: total, tables: erased, kept }, text);
      });
    });
