import { t } from '@lingui/core/macro';
import { VisuallyHidden } from '@mantine/core';
import { Link, type LinkProps } from '@tanstack/react-router';
import { keysOf } from '../../../../src/kernel/facts/keys-of.ts';
import type { Role } from '../../../../src/kernel/facts/roles.ts';
import type { Overview } from '../../api/schema.ts';
import { useHasRole } from '../../api/session.ts';
import { Dismiss } from '../../parts/dismiss.tsx';
import { formatNumber } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Panel } from '../../parts/panel.tsx';
import css from './overview.module.css';

type Steps = NonNullable<Overview['first_steps']>;
type Step = keyof Steps;

/** `role`: the least one that can do it; others are shown whether it is done. */
const STEPS: Readonly<Record<Step, { label: string; about: string; link: LinkProps; role: Role }>> = {
  key: {
    label: t`Create an API key`,
    about: t`API clients send it with every request.`,
    link: { to: '/settings/keys', search: { create: true } },
    role: 'admin',
  },
  call: {
    label: t`Send the first request`,
    about: t`The API reference has it in your language.`,
    link: { to: '/docs' },
    role: 'member',
  },
  allowlist: {
    label: t`Limit a key to your servers`,
    about: t`A key with an allowlist is of no use to anyone who finds it.`,
    link: { to: '/settings/keys' },
    role: 'admin',
  },
  member: {
    label: t`Invite a second person`,
    about: t`Someone else can then sign in when you cannot.`,
    link: { to: '/account/members', search: { invite: true } },
    role: 'admin',
  },
  alert: {
    label: t`Set an alert`,
    about: t`By mail or in a chat, before credits run out or a webhook fails.`,
    link: { to: '/alerts' },
    role: 'admin',
  },
  doctor: {
    label: t`Run the doctor`,
    about: t`It finds what keeps mail servers from answering this service.`,
    link: { to: '/operator/doctor' },
    role: 'viewer',
  },
};

/** What the first hour with an account is for. Each step is ticked by the service. */
export function FirstSteps({ steps }: { steps: Steps }) {
  const isMember = useHasRole('member');
  const isAdmin = useHasRole('admin');
  const mayDo: Readonly<Record<Role, boolean>> = { viewer: true, member: isMember, admin: isAdmin, owner: isAdmin };
  // `doctor` is null for those who do not run the service.
  const shown = keysOf(STEPS).filter((step) => steps[step] !== null);
  const done = shown.filter((step) => steps[step] === true).length;
  return (
    <Panel
      title={t`Get started`}
      note={t`${formatNumber(done)} of ${formatNumber(shown.length)} done`}
      actions={<Dismiss of={['first_steps']} />}
    >
      <ol className={css.steps}>
        {shown.map((step) => {
          const { label, about, link, role } = STEPS[step];
          const isDone = steps[step] === true;
          return (
            <li key={step} data-done={isDone}>
              <span className={css.tick}>{isDone && <Icon name="check" />}</span>
              <span>
                {isDone && <VisuallyHidden>{t`Done: `}</VisuallyHidden>}
                {!isDone && mayDo[role] ? <Link {...link}>{label}</Link> : <b>{label}</b>}
                {!isDone && <span> {mayDo[role] ? about : t`An account admin does this.`}</span>}
              </span>
            </li>
          );
        })}
      </ol>
    </Panel>
  );
}
