import Type from 'typebox';
import { POLICY_TRIED_ON } from '../../kernel/facts/limits.ts';
import { DecisionField } from '../policies.ts';
import { Time } from '../schema.ts';

const Count = Type.Integer({ minimum: 0 });

/** What rules would have said of the newest verifications of the account; `items`: those that are not accepted. */
export const PolicyTrialReply = Type.Object(
  {
    tried: Type.Integer({ description: `At most ${POLICY_TRIED_ON}, the newest.` }),
    decided: Type.Object({ accept: Count, review: Count, reject: Count }),
    items: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Of its entry in the log.' }),
        email: Type.String(),
        created_at: Time,
        action: DecisionField.properties.action,
        because: DecisionField.properties.because,
      }),
      { description: 'Newest first.' },
    ),
  },
  { title: 'PolicyTrial' },
);
