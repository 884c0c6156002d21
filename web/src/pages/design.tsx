import { Alert, Badge, Button, Group, NativeSelect, Switch, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { BarsChart } from '../parts/chart/bars-chart.tsx';
import { Chart } from '../parts/chart/chart.tsx';
import { CodeBlock } from '../parts/code-block.tsx';
import { CodeField } from '../parts/code-field.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Elapsed } from '../parts/elapsed.tsx';
import { EmailField } from '../parts/email-field.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { FilterChip } from '../parts/filter-chip.tsx';
import { Form } from '../parts/form.tsx';
import { FormResult } from '../parts/form-result.tsx';
import { Glyph } from '../parts/glyph.tsx';
import { ICON_NAMES, Icon } from '../parts/icon.tsx';
import { InvalidLink } from '../parts/invalid-link.tsx';
import { Loading, LoadingPage } from '../parts/loading.tsx';
import { Wordmark } from '../parts/mark.tsx';
import { NotFound } from '../parts/not-found.tsx';
import { Page } from '../parts/page.tsx';
import { Pair } from '../parts/panel.tsx';
import { NewPasswordField, PasswordField } from '../parts/password-field.tsx';
import { Prose } from '../parts/prose.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import { SetupHint } from '../parts/setup-hint.tsx';
import { SignInLink } from '../parts/sign-in-link.tsx';
import { SuggestingEmailField } from '../parts/suggesting-email-field.tsx';
import { useSubmit } from '../parts/use-submit.ts';
import { Address, VerdictLine } from '../parts/verdict/verdict-line.tsx';
import { ColorSchemeToggle } from '../shell/color-scheme-toggle.tsx';
import css from './design/design.module.css';
import { Forms } from './design/forms.tsx';
import { Overlays } from './design/overlays.tsx';
import { Sample } from './design/sample.tsx';
import { BARS, JUDGED, LINES, OUTCOMES, TOKENS } from './design/samples.ts';
import { Tables } from './design/tables.tsx';
import { OneVerdict } from './design/verdict.tsx';

/** Every part with its states. For development: it is not in the built dashboard. */
export const DesignPage = () => (
  <main className={css.main}>
    <Page title="Parts" about="Every part of the dashboard, with its states." action={<ColorSchemeToggle />}>
      <Tokens />
      <Verdicts />
      <OneVerdict />
      <Buttons />
      <Fields />
      <Forms />
      <Tables />
      <Charts />
      <Messages />
      <Overlays />
      <WholePages />
    </Page>
  </main>
);

const Tokens = () => (
  <Sample title="Tokens">
    {Object.entries(TOKENS).map(([group, names]) => (
      <Group key={group} gap="xs">
        <Text w={160}>{group}</Text>
        {names.map((name) => (
          <span key={name} className={css.token}>
            <span style={{ background: `var(--${name})` }} />
            {name}
          </span>
        ))}
      </Group>
    ))}
    <Wordmark />
    <Group gap="xs">
      {ICON_NAMES.map((name) => (
        <span key={name} className={css.icon}>
          <Icon name={name} /> {name}
        </span>
      ))}
    </Group>
  </Sample>
);

const Verdicts = () => (
  <Pair alike>
    <Sample title="Glyphs">
      {OUTCOMES.map(([outcome, label]) => (
        <Group key={outcome} gap="xs">
          <Glyph of={outcome} />
          <Glyph of={outcome} size={24} />
          {label}
        </Group>
      ))}
    </Sample>
    <Sample title="Verdicts in rows">
      {JUDGED.map((of) => (
        <div key={`${of.email} ${of.reason}`}>
          <Address email={of.email} of={of} />
          <br />
          <VerdictLine of={of} />
        </div>
      ))}
    </Sample>
  </Pair>
);

const LOOKS = [
  ['Default', {}],
  ['Primary', { variant: 'filled' }],
  ['Quiet', { variant: 'subtle' }],
  ['Final', { variant: 'filled', color: 'red' }],
] as const;

const Buttons = () => (
  <Sample title="Buttons">
    {LOOKS.map(([name, look]) => (
      <Group key={name}>
        <Button {...look}>{name}</Button>
        <Button {...look} size="xs">
          Small
        </Button>
        <Button {...look} disabled>
          Disabled
        </Button>
        <Button {...look} loading>
          Busy
        </Button>
      </Group>
    ))}
    <Group gap="xs">
      <Badge variant="default">Tag</Badge>
      {(['green', 'yellow', 'red', 'gray'] as const).map((color) => (
        <Badge key={color} variant="outline" color={color}>
          {color}
        </Badge>
      ))}
    </Group>
  </Sample>
);

function Fields() {
  const [chip, setChip] = useState<string | null>('staging');
  const submit = useSubmit(() => Promise.reject(new Error('The service is busy. Try again in a minute.')));
  return (
    <Pair alike>
      <Sample title="Fields">
        <TextInput label="Text" description="What it is for." placeholder="placeholder" />
        <TextInput label="Wrong" defaultValue="tomorrow" error="Enter a date, such as 2026-11-20." />
        <TextInput label="Disabled" disabled defaultValue="fixed" />
        <NativeSelect label="Choice" data={['Starter', 'Premium']} />
        <Switch label="Switch" defaultChecked />
        <SearchBox label="Search" placeholder="Address" maxLength={64} value="" onSearch={() => undefined} />
        <Group>
          <FilterChip name="Key" options={[{ value: 'staging', label: 'Staging' }]} value={chip} onChange={setChip} />
          <FilterChip name="Reason" options={[]} value={null} onChange={() => undefined} />
        </Group>
      </Sample>
      <Sample title="Form">
        <Form submit={submit} action="Save" main onCancel={() => undefined}>
          <EmailField {...submit.field('email')} />
          <SuggestingEmailField {...submit.field('invited')} label="Invited" />
          <PasswordField {...submit.field('password')} />
          <NewPasswordField {...submit.field('next')} label="New password" />
          <CodeField {...submit.field('code')} />
        </Form>
      </Sample>
    </Pair>
  );
}

const Charts = () => (
  <>
    <BarsChart
      title="Bars"
      data={BARS}
      beforeLabel="30 days before"
      linkOf={() => ({ to: '/log' })}
      linkOfSegment={() => ({ to: '/log' })}
      rejected
    />
    <Sample title="Lines">
      <Chart
        title="Latency"
        summary="Median and 95 % by day."
        unit=" ms"
        data={LINES}
        linkOf={() => ({ to: '/log' })}
      />
    </Sample>
  </>
);

const Messages = () => (
  <>
    <Pair alike>
      <Sample title="Notes">
        <ErrorAlert error={new Error('The service is busy. Try again in a minute.')} onRetry={() => undefined} />
        <ErrorAlert error={new TypeError('x is undefined')} />
        <Alert variant="outline">Parts of this URL are not valid and were ignored: page.</Alert>
        <FormResult action={<Button>Done</Button>}>The invitation was mailed.</FormResult>
        <Loading />
        <Elapsed label="Verifying" seconds={20} />
      </Sample>
      <Sample title="Empty">
        <EmptyState title="No webhooks" action={<Button variant="filled">Create webhook</Button>}>
          Events of this account are sent to your server.
        </EmptyState>
        <SetupHint />
        <NotFound inside />
      </Sample>
    </Pair>
    <Pair alike>
      <Sample title="Texts to copy">
        <CopyText label="API key" text="mv_test_0123456789abcdef" />
        <Text>
          <Prose text="`1` adds the evidence." />
        </Text>
      </Sample>
      <CodeBlock
        label="sample"
        header="Code"
        code={'curl -sS https://verify.example.net/v1/usage \\\n  -H "Authorization: Bearer $MAILVET_KEY"'}
      />
    </Pair>
  </>
);

const EXPIRED = { token: null, rejection: 'The link has expired.', onError: () => undefined, discard: () => undefined };

/** What stands in place of a page. */
const WholePages = () => (
  <>
    <Sample title="A page that loads">
      <LoadingPage />
    </Sample>
    <Sample title="A link that is no longer valid">
      <InvalidLink link={EXPIRED}>Ask for a new one, or sign in.</InvalidLink>
      <SignInLink />
    </Sample>
  </>
);
