import Type from 'typebox';
import { FILTER_ORDERS } from '../../kernel/facts/sort-orders.ts';
import { FiltersQuery } from '../filters.ts';
import { sortFields } from './fields.ts';

export const FiltersHereQuery = Type.Object({ ...FiltersQuery.properties, ...sortFields(FILTER_ORDERS) });
