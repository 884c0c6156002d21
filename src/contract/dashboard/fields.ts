import Type from 'typebox';
import {
  INSTANT_LENGTH,
  LINK_TOKEN_LENGTH,
  NAME_LENGTH,
  PAGE_SIZE,
  PASSWORD_LENGTH,
  PERSON_NAME_LENGTH,
  PLAN_NAME_LENGTH,
  USER_EMAIL_LENGTH,
} from '../../kernel/facts/limits.ts';
import { ACCOUNT_STATUSES } from '../../kernel/facts/plans.ts';
import { ROLES } from '../../kernel/facts/roles.ts';
import { ORDERS, sortsOf } from '../../kernel/facts/sort-orders.ts';
import { choice } from '../../kernel/format.ts';
import { DecodedAs, OneOf, Text, WholeNumber } from '../schema.ts';

import { instantError } from '../usage.ts';

export const RoleField = OneOf(ROLES, { 'x-error': `role must be ${choice(ROLES)}.` });
/** Which plans there are is the operator's choice, so it is checked by the service. */
export const PlanField = Text('plan', PLAN_NAME_LENGTH, { description: 'The name of a plan.' });
export const AccountStatusField = OneOf(ACCOUNT_STATUSES, { 'x-error': `status must be ${choice(ACCOUNT_STATUSES)}.` });
/** Names an account or a key. */
export const Name = Text('name', NAME_LENGTH);

export const SecondFactorRequired = Type.Boolean({
  description:
    'Whether members can use the account only in sessions begun with a code of an authenticator app or a passkey.',
  'x-error': 'second_factor_required must be true or false.',
});

export const InstantOf = (field: string) =>
  DecodedAs('instant', Text(field, INSTANT_LENGTH, { 'x-error': instantError(field) }));

export const Email = Text('email', USER_EMAIL_LENGTH, { 'x-error': 'email must be an email address.' });
export const PersonName = Text('name', PERSON_NAME_LENGTH);
/** One that was chosen earlier: nothing is said of what it should have been. */
export const Password = Text('password', { min: 1, max: PASSWORD_LENGTH.max });
export const NewPassword = Text('password', PASSWORD_LENGTH);
export const LinkToken = Text('token', LINK_TOKEN_LENGTH, { 'x-error': 'token must be the one of the link.' });

/** Keyset pages: `next` goes into the next request's `before`; null at the end. */
export const Next = { anyOf: [{ type: 'integer' }, { type: 'null' }] } as const;
export const Before = Type.Integer({ minimum: 1, 'x-error': 'before must be the `next` of an earlier page.' });
export const PageSize = WholeNumber('limit', PAGE_SIZE);

/** Rows are sorted by this column, and in this order: by default, that of the table. */
export function sortFields<S extends string>(orders: Readonly<Record<S, unknown>>) {
  const sorts = sortsOf(orders);
  return {
    sort: Type.Optional(OneOf(sorts, { 'x-error': `sort must be ${choice(sorts)}.` })),
    order: Type.Optional(OneOf(ORDERS, { 'x-error': `order must be ${choice(ORDERS)}.` })),
  };
}
