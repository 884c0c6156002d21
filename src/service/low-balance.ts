import type { Account, Store } from '../store/store.ts';
import type { Mail } from './mail.ts';

type Letter = Parameters<Mail['lowBalance']>[0];

/** How often a letter is tried that no mail server took. */
const TRIES = 20;
/** Letters that wait to be tried again; beyond it the oldest are given up. */
const WAITING_MAX = 1000;

/**
 * Tells the owners and admins of accounts whose balance fell below their line. The store names each account once, on all
 * nodes together; what could not be told waits in this process for the next round.
 */
export function createLowBalanceMails(parts: {
  store: Pick<Store, 'accounts' | 'members'>;
  mail: Pick<Mail, 'lowBalance'>;
  /** Public address of the service, without a slash at its end. */
  url: () => string;
}): () => Promise<void> {
  const { store, mail, url } = parts;
  const untold: Account[] = [];
  let letters: { letter: Letter; tries: number }[] = [];

  async function write({ id, name, balance, lowBalance }: Account): Promise<void> {
    if (lowBalance === null) return;
    const people = (await store.members.list(id)).filter(({ role }) => role !== 'member');
    for (const { email } of people) {
      const letter = { to: email, account: name, balance, line: lowBalance, link: `${url()}/` };
      letters.push({ letter, tries: TRIES });
    }
  }

  return async () => {
    untold.push(...(await store.accounts.fellLow()));
    for (let account = untold.shift(); account !== undefined; account = untold.shift()) {
      try {
        await write(account);
      } catch (error) {
        untold.push(account);
        throw error;
      }
    }
    const due = letters.slice(-WAITING_MAX);
    letters = [];
    for (const { letter, tries } of due) {
      const sent = await mail.lowBalance(letter);
      if (!sent && tries > 1) letters.push({ letter, tries: tries - 1 });
    }
  };
}
