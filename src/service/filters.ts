import { ANY_LABEL, filterTypeOf, filterValue } from '../engine/address/filter-value.ts';
import { mailboxOf } from '../engine/address/mailbox.ts';
import { isPublicSuffix } from '../engine/address/parse.ts';
import type { DomainData } from '../engine/data/domain-data.ts';
import { type FilterFields, type FilterReading, type FilterRow, openFilterFile } from '../files/filter-file.ts';
import { trimBlanks } from '../kernel/blanks.ts';
import { type Clock, toDate, toIso } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import {
  FILTER_ACTION_FACTS,
  type FilterAction,
  type FilterMatch,
  type FilterType,
} from '../kernel/facts/filter-types.ts';
import {
  FILTER_BATCH_ROWS,
  FILTER_ERRORS_SHOWN,
  FILTER_EXPIRY_YEARS,
  FILTER_ROWS_SHOWN,
} from '../kernel/facts/limits.ts';
import type { ReadChoice } from '../kernel/facts/lists.ts';
import type { HeldPlace } from '../kernel/fair-queue.ts';
import { counted, grouped } from '../kernel/format.ts';
import { andRest, EXPORT_ROWS } from '../store/batches.ts';
import type {
  AccountId,
  Actor,
  ByPage,
  Filter,
  FilterAdded,
  FilterChange,
  FilterInput,
  Filters,
  ReplyToStore,
  Store,
} from '../store/store.ts';
import { ownerOf } from '../store/test-account.ts';
import { actorFor, type ChangedBy } from './audit-log.ts';
import type { Costs } from './costs.ts';
import { withoutFileError } from './lists/file-error.ts';
import { GiveWay } from './lists/give-way.ts';
import type { Spooled } from './lists/spooled.ts';

export type { Filter, FilterAdded, FilterFields };

export interface NewFilter {
  readonly filterType: FilterType | null;
  readonly value: string;
  readonly reason: string | null;
  readonly action: FilterAction;
  readonly match: FilterMatch;
  readonly expiresAt: number | null;
}

/** What is left out stays. */
export interface ChangedFilter {
  readonly reason?: string | null;
  readonly action?: FilterAction;
  readonly match?: FilterMatch;
  readonly expiresAt?: number | null;
}

/** A file of filters, and how it is to be read. */
interface UploadedFilters extends Spooled {
  readonly read: ReadChoice;
  /** The media type has this charset. */
  readonly charset: string | null;
  /** Nothing is changed. */
  readonly dryRun: boolean;
}

interface FilterImport {
  readonly reading: FilterReading;
  /** Rows that are not blank, which are those of the other three. */
  readonly rows: number;
  /** Or that would be. */
  readonly added: number;
  /** Those that the account, or an earlier row, has already. */
  readonly existing: number;
  readonly invalid: number;
  /** The first FILTER_ERRORS_SHOWN errors are listed. */
  readonly errors: readonly FilterRowError[];
  /** The first FILTER_ROWS_SHOWN rows that can be used. */
  readonly shown: readonly (FilterInput & { readonly row: number })[];
  readonly warnings: readonly string[];
}

interface FilterRowError {
  /** Counts lines of the text or rows of the sheet from 1. */
  readonly row: number;
  readonly text: string;
  /** Null: the row as a whole. */
  readonly field: string | null;
  /** The text is one sentence. */
  readonly error: string;
}

/** Reads what a row says of a filter. */
type ToFilter = (fields: FilterFields) => NewFilter | ApiError;

interface FilterServiceParts {
  readonly store: Pick<Store, 'clock' | 'filters' | 'keys'>;
  readonly clock: Clock;
  readonly domainData: () => DomainData;
  readonly costs: Costs;
  /** How many there were so far. */
  readonly singleCalls: () => number;
}

export function createFilterService({ store, clock, domainData, costs, singleCalls }: FilterServiceParts) {
  const { filters, keys } = store;
  const actorOf = actorFor(keys);
  const way = new GiveWay(clock, singleCalls);
  /** The store's clock, where the filter has to be compared with it. */
  const timeFor = async ({ expiresAt }: NewFilter): Promise<number> =>
    expiresAt === null ? clock.now() : (await store.clock.peek()).now;
  return {
    /** `stored`: the reply for the Idempotency-Key, written with the filter. Throws ApiError `invalid_filter`. */
    async add(account: AccountId, input: NewFilter, by: ChangedBy, stored: ReplyToStore<FilterAdded> | null = null) {
      const now = await timeFor(input);
      return filters.add(account, toStored(input, now), await actorOf(by), stored);
    },
    /**
     * `read` is called once there is room for another upload. A row that cannot be used changes nothing, and is no
     * reason not to use the others. Throws ApiError: `overloaded`, what is wrong with the file, and what the store
     * refuses, such as `too_many_filters`, which then says how many were added.
     */
    async importFile(
      account: AccountId,
      read: (place: HeldPlace) => Promise<UploadedFilters>,
      toFilter: ToFilter,
      by: ChangedBy,
    ) {
      const place = await costs.hold('list_upload', account);
      try {
        const actor = await actorOf(by);
        const upload = await read(place);
        try {
          const { now } = await store.clock.peek();
          return await importRows({ filters, clock, way }, account, upload, { toFilter, now, actor });
        } catch (error) {
          throw withoutFileError(error);
        } finally {
          await upload.close();
        }
      } finally {
        place.release();
      }
    },
    /** Throws ApiError `not_found`, also for a filter of another account. */
    async get(account: AccountId, id: number) {
      const filter = await filters.get(account, id);
      if (filter === null) throw noFilter(id);
      return filter;
    },
    /** Throws ApiError: `not_found`, `invalid_filter`, `filter_exists`. */
    async change(account: AccountId, id: number, change: ChangedFilter, by: ChangedBy) {
      const plan = (filter: Filter, now: number) => planChange(filter, change, now);
      const changed = await filters.change(account, id, plan, await actorOf(by));
      if (changed === null) throw noFilter(id);
      if ('existingId' in changed) throw filterExists(changed.existingId);
      return changed;
    },
    /** What whoever set the filter should know. */
    warnings({ filterType, action, value }: Filter) {
      if (filterType !== 'mx_host' || !FILTER_ACTION_FACTS[action].blocks) return [];
      const below = value.startsWith(ANY_LABEL);
      const shared = domainData().sharedHosts(below ? value.slice(ANY_LABEL.length) : value, below);
      if (shared.length === 0) return [];
      const named = shared.slice(0, PROVIDERS_NAMED).join(', ');
      const rest = shared.length - PROVIDERS_NAMED;
      const whose = rest > 0 ? `${named} and ${rest} more` : named;
      return [
        `${value} covers mail hosts of ${whose}, which many domains share: addresses at all of them are blocked.`,
      ];
    },
    list: (account: AccountId, { page, perPage, ...wanted }: ByPage<Parameters<Filters['list']>[1]>) =>
      filters.list(account, { ...wanted, offset: (page - 1) * perPage, limit: perPage }),
    /** Throws ApiError `not_found`, also for a filter of another account. */
    async remove(account: AccountId, id: number, by: ChangedBy) {
      const removed = await filters.remove(account, id, await actorOf(by));
      if (!removed) throw noFilter(id);
    },
    /** Yields all filters in batches, oldest first. */
    async *all(account: AccountId) {
      for (let after = 0; ; ) {
        const batch = await andRest(() => filters.from(account, after, EXPORT_ROWS));
        if (batch.length > 0) yield batch;
        if (batch.length < EXPORT_ROWS) return;
        after = batch.at(-1)!.id;
      }
    },
  };
}

export type FilterService = ReturnType<typeof createFilterService>;

const noFilter = (id: number) => new ApiError('not_found', `There is no filter ${id}.`);

export const filterExists = (id: number): ApiError =>
  new ApiError('filter_exists', undefined, { field: 'value', existing_id: id });

const invalidFilter = (field: string, sentence: string) => new ApiError('invalid_filter', sentence, { field });

/** Throws ApiError `invalid_filter`. `now`: the store's clock. */
function toStored({ reason, action, match, expiresAt, ...input }: NewFilter, now: number): FilterInput {
  const { filterType, value } = canonicalFilter(input);
  if (expiresAt !== null) checkFilterExpiry(expiresAt, now);
  const filter = { filterType, value: matchedValue(filterType, match, value), reason, action, match, expiresAt };
  checkAction(filter);
  return filter;
}

interface Importing {
  readonly toFilter: ToFilter;
  /** The time is by the store's clock, in ms. */
  readonly now: number;
  readonly actor: Actor;
}
type ParsedFilter = { readonly row: FilterRow } & (
  | { readonly input: FilterInput }
  | { readonly error: FilterRowError }
);

/** What the rows of a file become, and what of them is stored. */
class RowImport {
  readonly counts = { rows: 0, added: 0, existing: 0, invalid: 0 };
  readonly errors: FilterRowError[] = [];
  readonly shown: (FilterInput & { readonly row: number })[] = [];
  /** A later row for the same filter as one of these does not count for itself. */
  readonly #before = new Map<string, Pick<FilterInput, 'action' | 'expiresAt'> & { readonly where: string }>();
  readonly #filters: Filters;
  readonly #account: AccountId;
  readonly #actor: Actor;
  readonly #dryRun: boolean;

  constructor(filters: Filters, account: AccountId, actor: Actor, dryRun: boolean) {
    this.#filters = filters;
    this.#account = account;
    this.#actor = actor;
    this.#dryRun = dryRun;
  }

  async take(parsed: readonly ParsedFilter[]): Promise<void> {
    this.counts.rows += parsed.length;
    const usable = parsed.flatMap((one) => ('input' in one ? [one.input] : []));
    for (const existing of await this.#filters.existing(this.#account, usable)) {
      if (existing === null || this.#before.has(filterSubject(existing))) continue;
      this.#before.set(filterSubject(existing), { ...existing, where: `filter ${existing.id}` });
    }
    const fresh = parsed.flatMap((one) => this.#freshOf(one));
    if (fresh.length === 0) return;
    const added = await this.#add(fresh);
    this.counts.added += added;
    this.counts.existing += fresh.length - added;
  }

  /** How many were added; a dry run adds none. */
  async #add(inputs: readonly FilterInput[]): Promise<number> {
    if (this.#dryRun) return inputs.length;
    return (await this.#filters.addMany(this.#account, inputs, this.#actor)).filter(({ added }) => added).length;
  }

  /** What the row is to add, if anything. */
  #freshOf(one: ParsedFilter): FilterInput[] {
    if ('error' in one) return this.#refuse(one.error);
    const { row, input } = one;
    const key = filterSubject(input);
    const earlier = this.#before.get(key);
    const clash = earlier === undefined ? null : clashOf(earlier, input);
    if (clash !== null) return this.#refuse({ row: row.row, text: row.text, ...clash });
    if (this.shown.length < FILTER_ROWS_SHOWN) this.shown.push({ ...input, row: row.row });
    if (earlier !== undefined) {
      this.counts.existing += 1;
      return [];
    }
    this.#before.set(key, { ...input, where: `row ${grouped(row.row)}` });
    return [input];
  }

  #refuse(error: FilterRowError): [] {
    this.counts.invalid += 1;
    if (this.errors.length < FILTER_ERRORS_SHOWN) this.errors.push(error);
    return [];
  }
}

async function importRows(
  { filters, clock, way }: { readonly filters: Filters; readonly clock: Clock; readonly way: GiveWay },
  account: AccountId,
  { input, read, charset, dryRun }: UploadedFilters,
  { toFilter, now, actor }: Importing,
): Promise<FilterImport> {
  const file = await openFilterFile(input, { ...read, charset, limits: { party: ownerOf(account) } });
  const rows = new RowImport(filters, account, actor, dryRun);
  try {
    for await (const batch of file.batches)
      for (let from = 0; from < batch.length; from += FILTER_BATCH_ROWS) {
        const began = clock.elapsed();
        await rows.take(batch.slice(from, from + FILTER_BATCH_ROWS).map((row) => parsedRow(row, toFilter, now)));
        await way.rest(clock.elapsed() - began);
      }
    const { counts, errors, shown } = rows;
    return { reading: file.reading, ...counts, errors, shown, warnings: file.warnings() };
  } catch (error) {
    throw dryRun ? error : withAdded(error, rows.counts.added);
  } finally {
    await file.close();
  }
}

function parsedRow(row: FilterRow, toFilter: ToFilter, now: number): ParsedFilter {
  const { read: found, text } = row;
  const refused = (field: string | null, error: string) => ({ row, error: { row: row.row, text, field, error } });
  if ('fault' in found) return refused(found.field, found.fault);
  try {
    const read = toFilter(found.fields);
    if (read instanceof ApiError) throw read;
    return { row, input: toStored(read, now) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { field } = error.details ?? {};
    return refused(typeof field === 'string' ? field : null, error.message);
  }
}

/** The same for filters of which an account has one. */
const filterSubject = ({ filterType, match, value }: FilterInput): string => `${filterType} ${match} ${value}`;

/** Why the row is not what is there already; null: it is. A reason makes no difference. */
function clashOf(
  there: Pick<FilterInput, 'action' | 'expiresAt'> & { readonly where: string },
  { action, expiresAt }: FilterInput,
): Pick<FilterRowError, 'field' | 'error'> | null {
  const remedy = 'change or remove one of the two.';
  if (there.action !== action)
    return { field: 'action', error: `${capitalized(there.where)} ${there.action}s the same: ${remedy}` };
  if (there.expiresAt === expiresAt) return null;
  const ends = there.expiresAt === null ? 'does not expire' : `expires at ${toIso(there.expiresAt)}`;
  return { field: 'expires_at', error: `${capitalized(there.where)} is for the same, and ${ends}: ${remedy}` };
}
const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What was added before the fault stays. */
function withAdded(error: unknown, added: number): unknown {
  if (added === 0) return error;
  const cause = withoutFileError(error);
  const said = `${counted(added, 'filter')} of the rows before ${added === 1 ? 'was' : 'were'} added.`;
  if (!(cause instanceof ApiError)) return cause;
  return new ApiError(cause.code, `${cause.message} ${said}`, { ...cause.details, added });
}

/** The change of a filter as it is stored. Throws ApiError `invalid_filter`. */
function planChange(filter: Filter, { match, ...change }: ChangedFilter, now: number): FilterChange {
  const { expiresAt = filter.expiresAt } = change;
  if (expiresAt !== null && expiresAt !== filter.expiresAt) checkFilterExpiry(expiresAt, now);
  checkAction({ ...filter, ...change });
  if (match === undefined || match === filter.match) return change;
  return { ...change, matching: { match, value: matchedValue(filter.filterType, match, filter.value) } };
}

/** What is compared with the mailbox of an address is a mailbox, too. */
function matchedValue(filterType: FilterType, match: FilterMatch, value: string): string {
  if (match === 'exact') return value;
  if (filterType !== 'email') throw invalidFilter('match', 'match can be "mailbox" only where filter_type is "email".');
  return mailboxOf(value);
}

function checkFilterExpiry(expiresAt: number, now: number): void {
  const last = toDate(now);
  last.setUTCFullYear(last.getUTCFullYear() + FILTER_EXPIRY_YEARS);
  if (expiresAt > now && expiresAt <= last.getTime()) return;
  const years = counted(FILTER_EXPIRY_YEARS, 'year');
  throw invalidFilter('expires_at', `expires_at must be in the future, and at most ${years} ahead.`);
}

/** An `allow` that covers everybody would switch the lists off. */
function checkAction({ filterType, value, action }: Pick<FilterInput, 'filterType' | 'value' | 'action'>): void {
  if (FILTER_ACTION_FACTS[action].mayCoverAll) return;
  const covers = ALLOWED_FOR_ALL[filterType](value);
  if (covers !== null)
    throw invalidFilter(
      'value',
      `${value} is ${covers}: to allow all of it would switch the lists off. Allow what is below.`,
    );
}

const PUBLIC_SUFFIX = 'a public suffix';
/** As what a value of this type covers everybody; null: it does not. */
const ALLOWED_FOR_ALL: Readonly<Record<FilterType, (value: string) => string | null>> = {
  email: () => null,
  domain: (value) => (isPublicSuffix(value) ? PUBLIC_SUFFIX : null),
  ip_address: (value) => (value.endsWith('/0') ? 'every address' : null),
  mx_host: (value) =>
    isPublicSuffix(value.startsWith(ANY_LABEL) ? value.slice(ANY_LABEL.length) : value) ? PUBLIC_SUFFIX : null,
};

/** A warning names at most this many. */
const PROVIDERS_NAMED = 3;

const EXPECTED: Readonly<Record<FilterType, string>> = {
  email: 'an email address such as spam@example.com',
  domain: 'a domain such as example.com',
  ip_address: 'an IPv4 or IPv6 address or a CIDR such as 192.0.2.0/24',
  mx_host: 'a mail host such as mx.example.com or *.example.com',
};

/** Trimmed and in canonical form. Without a given type, it is derived from the value. */
function canonicalFilter(input: Pick<NewFilter, 'filterType' | 'value'>): { filterType: FilterType; value: string } {
  const text = trimBlanks(input.value);
  const filterType = input.filterType ?? filterTypeOf(text);
  const value = filterValue(filterType, text);
  if (value !== null) return { filterType, value };
  const named = input.filterType ? `For the filter type "${filterType}", value` : 'value';
  throw invalidFilter('value', `${named} must be ${EXPECTED[filterType]}.`);
}
