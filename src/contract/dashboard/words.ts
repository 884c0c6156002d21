import Type from 'typebox';
import { OneOf } from '../schema.ts';

/** What a person may do in an account, from least to most. */
export const ROLES = ['member', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export const RoleField = OneOf(ROLES, { 'x-error': 'role must be "owner", "admin" or "member".' });

export const Time = Type.String({ format: 'date-time' });

export const Email = Type.String({ minLength: 3, maxLength: 254, 'x-error': 'email must be an email address.' });
export const PersonName = Type.String({
  minLength: 1,
  maxLength: 100,
  'x-error': 'name must have 1 to 100 characters.',
});
/** One that was chosen earlier: nothing is said of what it should have been. */
export const Password = Type.String({
  minLength: 1,
  maxLength: 256,
  'x-error': 'password must have 1 to 256 characters.',
});
/** NIST SP 800-63B §5.1.1.2: length, and nothing else. */
export const NewPassword = Type.String({
  minLength: 12,
  maxLength: 256,
  'x-error': 'password must have 12 to 256 characters.',
});
export const Token = Type.String({
  minLength: 16,
  maxLength: 128,
  'x-error': 'token must be the one of the link.',
});

/** Keyset pages: `next` goes into the next request's `before`; null at the end. */
export const Next = { anyOf: [{ type: 'integer' }, { type: 'null' }] } as const;

/** Rows of a page where no number is asked for. */
export const PAGE_SIZE = 50;
