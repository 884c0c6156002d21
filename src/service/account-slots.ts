import type { AccountId } from '../store/store.ts';

/** Bounds what accounts do at once in this process. */
export class AccountSlots<Owner = AccountId> {
  readonly #perAccount: number;
  readonly #total: number;
  readonly #taken = new Map<Owner, number>();
  #all = 0;

  constructor(perAccount: number, total: number) {
    this.#perAccount = perAccount;
    this.#total = total;
  }

  /** Returns what frees it again, or who has no more. */
  take(account: Owner): (() => void) | 'This account' | 'The service' {
    const own = this.#taken.get(account) ?? 0;
    if (own >= this.#perAccount) return 'This account';
    if (this.#all >= this.#total) return 'The service';
    this.#taken.set(account, own + 1);
    this.#all += 1;
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      this.#all -= 1;
      const left = (this.#taken.get(account) ?? 1) - 1;
      if (left === 0) this.#taken.delete(account);
      else this.#taken.set(account, left);
    };
  }
}

/** Calls `release` when it ends, however it does, even if nobody began to read it. */
export const withRelease = <T>(items: AsyncGenerator<T, void, undefined>, release: () => void): AsyncIterable<T> => ({
  [Symbol.asyncIterator]: () => ({
    async next() {
      try {
        const step = await items.next();
        if (step.done) release();
        return step;
      } catch (error) {
        release();
        throw error;
      }
    },
    async return() {
      release();
      return items.return();
    },
  }),
});
