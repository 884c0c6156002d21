import Type from 'typebox';
import { ADDRESS_LENGTH } from '../kernel/facts/limits.ts';
import { Strict, Text, Time, Warnings } from './schema.ts';
import { EMAIL_ERROR } from './verify.ts';

const PersonEmail = Text('email', ADDRESS_LENGTH, { description: 'Without regard to case.', 'x-error': EMAIL_ERROR });
const CanonicalField = Type.Optional(
  Type.Boolean({
    description: 'All spellings of the mailbox, as `canonical_email` compares them, not this address alone.',
    default: false,
    'x-error': 'canonical must be true or false.',
  }),
);

// What is misspelled must not export or erase less than was meant.
export const PrivacyExportRequest = Strict(
  Type.Object({ email: PersonEmail, canonical: CanonicalField }, { title: 'PrivacyExportRequest' }),
);
export const PrivacyEraseRequest = Strict(
  Type.Object(
    {
      email: PersonEmail,
      canonical: CanonicalField,
      filters: Type.Optional(
        Type.Boolean({
          description: 'Remove filters of the address as well, so that it is no longer blocked or allowed.',
          default: false,
          'x-error': 'filters must be true or false.',
        }),
      ),
    },
    { title: 'PrivacyEraseRequest' },
  ),
);

export const PrivacyExport = Type.Object(
  {
    email: Type.String(),
    canonical: Type.Boolean(),
    exported_at: Time,
    held: Type.Record(Type.String(), Type.Array(Type.Record(Type.String(), Type.Unknown())), {
      description: 'The rows of each table that has some, such as `verifications`, `list_blocks`, `filters`, `trail`.',
    }),
  },
  { title: 'PrivacyExport' },
);

const CountsByTable = (description: string) => Type.Record(Type.String(), Type.Integer(), { description });
export const PrivacyErased = Type.Object(
  {
    erased: Type.Integer({ description: 'The sum of `tables`.' }),
    tables: CountsByTable('Rows by table that were deleted, or have a hash in place of the address.'),
    kept: CountsByTable(
      'Rows by table that still mention the address: filters, settings, and what is kept of users of the dashboard.',
    ),
    warnings: Warnings,
  },
  { title: 'PrivacyErased' },
);
