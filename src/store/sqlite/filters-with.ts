import { sql } from 'kysely';
import type { StorageDriver } from '../driver.ts';

/**
 * See `StorageDriver.filtersWith`. Goes through the values, each of which is looked up: left to choose, SQLite expects
 * an account to have few filters, and reads all of them.
 */
export const filtersWith: StorageDriver['filtersWith'] = (db, account, type, values) =>
  db
    .selectFrom(sql<{ value: string }>`json_each(${JSON.stringify(values)})`.as('wanted'))
    .crossJoin('filters')
    .selectAll('filters')
    .where('account_id', '=', account)
    .where('filter_type', '=', type)
    .whereRef('filters.value', '=', 'wanted.value');
