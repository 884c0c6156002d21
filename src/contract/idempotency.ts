import Type from 'typebox';
import { IDEMPOTENCY_HOURS } from '../kernel/facts/lifetimes.ts';
import { IDEMPOTENCY_KEY_LENGTH } from '../kernel/facts/limits.ts';
import { counted, span } from '../kernel/format.ts';
import { Text } from './bounded.ts';
import { DecodedAs } from './schema.ts';

/** draft-ietf-httpapi-idempotency-key-header. */
export const IdempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    DecodedAs(
      'printable',
      Text('Idempotency-Key', IDEMPOTENCY_KEY_LENGTH, {
        description: `For ${counted(IDEMPOTENCY_HOURS, 'hour')} the same key returns the stored reply.`,
        'x-error': `The Idempotency-Key header must be sent once, with ${span(IDEMPOTENCY_KEY_LENGTH)} printable ASCII characters.`,
      }),
    ),
  ),
});
