import { CompiledQuery } from 'kysely';
import type { TableRows } from '../columns.ts';
import { arraysOf, insertUnnested } from './write.ts';

/** See `StorageDriver.insertRows`. */
export const insertRows = <From>(rows: TableRows<From>, from: readonly From[]): CompiledQuery =>
  CompiledQuery.raw(insertUnnested(rows), arraysOf(rows, from));
