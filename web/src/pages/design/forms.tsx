import { Button } from '@mantine/core';
import { InvitationForm } from '../../parts/invitation-form.tsx';
import { Pair } from '../../parts/panel.tsx';
import { Sample } from './sample.tsx';

/** An invitation that was mailed, and one whose link is shown. */
export const Forms = () => (
  <Pair alike>
    <Sample title="Invitation">
      <InvitationForm
        send={() => Promise.resolve({ id: 'inv_1', mailed: true, link: null })}
        done={<Button>Done</Button>}
        onCancel={() => undefined}
      />
    </Sample>
    <Sample title="Invitation, without mail">
      <InvitationForm
        send={() =>
          Promise.resolve({ id: 'inv_2', mailed: false, link: 'https://verify.example.net/invitation#token=sample' })
        }
        main
      />
    </Sample>
  </Pair>
);
