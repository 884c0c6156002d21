/** What an account holds about a person: all of it as a document, and its end. All methods throw ApiError. */
import { mailboxDomains, mailboxOf } from '../engine/address/mailbox.ts';
import { trimBlanks } from '../kernel/blanks.ts';
import { type Clock, toIso } from '../kernel/clock.ts';
import type { AccountId, HeldRows, Person, Store } from '../store/store.ts';
import { actorFor, type ChangedBy } from './audit-log.ts';
import type { Costs } from './costs.ts';

interface AskedPerson {
  readonly email: string;
  /** Finds all spellings of the mailbox, not this address alone. */
  readonly canonical: boolean;
}

function askedPerson({ email: text, canonical }: AskedPerson): Person {
  const email = trimBlanks(text);
  const mailbox = mailboxOf(email);
  const is = (address: string) => mailboxOf(address) === mailbox;
  return { email, mailbox, spellings: canonical ? { is, domains: mailboxDomains(mailbox) } : null };
}

/** Writes the tables in the order in which they come; the rows of one table come one after the other. */
async function* document(asked: AskedPerson, now: number, held: AsyncIterable<HeldRows>): AsyncGenerator<string> {
  const head = { email: asked.email, canonical: asked.canonical, exported_at: toIso(now) };
  let text = `${JSON.stringify(head).slice(0, -1)},"held":{`;
  let open: string | null = null;
  for await (const { table, rows } of held) {
    const begins = open === null ? '' : '],';
    text += open === table ? ',' : `${begins}${JSON.stringify(table)}:[`;
    open = table;
    yield text + rows.map((row) => JSON.stringify(row)).join(',');
    text = '';
  }
  yield `${text}${open === null ? '' : ']'}}}\n`;
}

export function createPrivacyService(
  { privacy, keys }: Pick<Store, 'privacy' | 'keys'>,
  { costs, clock }: { readonly costs: Costs; readonly clock: Clock },
) {
  const actorOf = actorFor(keys);
  return {
    /** A JSON document, piece by piece; one that was cut off is no JSON. */
    async export(account: AccountId, asked: AskedPerson, by: ChangedBy) {
      const held = privacy.held(account, askedPerson(asked), await actorOf(by));
      return costs.read('export', account, document(asked, clock.now(), held));
    },
    /** The API, the dashboard and the command line share this way. */
    async erase(account: AccountId, { filters, ...asked }: AskedPerson & { readonly filters: boolean }, by: ChangedBy) {
      const actor = await actorOf(by);
      // It reads as much as an export does.
      const place = await costs.hold('export', account);
      try {
        return await privacy.erase(account, askedPerson(asked), actor, { filters });
      } finally {
        place.release();
      }
    },
  };
}

export type PrivacyService = ReturnType<typeof createPrivacyService>;
