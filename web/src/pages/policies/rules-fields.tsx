import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Group, NativeSelect, SegmentedControl, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import { LANGUAGE_LENGTH, POLICY_MESSAGE_LENGTH, TIMEOUT_MS } from '../../../../src/kernel/facts/limits.ts';
import { LEVELS } from '../../../../src/kernel/facts/plans.ts';
import {
  DECISION_GROUNDS,
  type DecisionGround,
  GROUND_ROWS,
  POLICY_ACTIONS,
  type PolicyAction,
  SIGNALS,
  SUGGESTION,
} from '../../../../src/kernel/facts/policies.ts';
import { factText } from '../../parts/fact-text.ts';
import { formatNumber } from '../../parts/format.ts';
import css from './policies.module.css';
import type { Rules } from './sentences.ts';

const ACTION_LABELS: Readonly<Record<PolicyAction, string>> = {
  accept: t`Accept`,
  review: t`Review`,
  reject: t`Reject`,
};
const ACTIONS = POLICY_ACTIONS.map((value) => ({ value, label: ACTION_LABELS[value] }));

type Change = (rules: Rules) => void;

/** The rules of a policy as fields. Nothing is saved here. */
export function RulesFields({ rules, onChange }: { rules: Rules; onChange: Change }) {
  const { signals, validation_type, on_outage } = rules;
  return (
    <Stack gap="lg">
      <Stack gap="xs" role="group" aria-label={t`Signals`}>
        {SIGNALS.map((signal) => (
          <Choice
            key={signal}
            label={factText(GROUND_ROWS[signal].subject)}
            value={signals[signal]}
            onChange={(action) => onChange({ ...rules, signals: { ...signals, [signal]: action } })}
          />
        ))}
        <Choice
          label={factText(GROUND_ROWS.outage.subject)}
          value={on_outage}
          onChange={(action) => onChange({ ...rules, on_outage: action })}
        />
      </Stack>
      <Group align="flex-start">
        <NativeSelect
          label={t`Level`}
          description={t`Where the request has none.`}
          data={[...LEVELS]}
          value={validation_type}
          onChange={({ currentTarget: { value } }) =>
            onChange({ ...rules, validation_type: LEVELS.find((level) => level === value) ?? validation_type })
          }
        />
        <TimeLimit rules={rules} onChange={onChange} />
      </Group>
      <Messages rules={rules} onChange={onChange} />
    </Stack>
  );
}

const Choice = (props: { label: string; value: PolicyAction; onChange: (action: PolicyAction) => void }) => (
  <div className={css.choice}>
    <Text size="sm">{props.label}</Text>
    <SegmentedControl
      size="xs"
      aria-label={props.label}
      data={ACTIONS}
      value={props.value}
      onChange={(value) => props.onChange(POLICY_ACTIONS.find((action) => action === value) ?? props.value)}
    />
  </div>
);

/** Only what is a time limit becomes part of the rules. */
function TimeLimit({ rules, onChange }: { rules: Rules; onChange: Change }) {
  const [text, setText] = useState(String(rules.timeout_ms));
  const { min, max } = TIMEOUT_MS;
  const read = (value: string): number | null => {
    const number = /^\d{1,9}$/.test(value.trim()) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : null;
  };
  return (
    <TextInput
      label={t`Time limit in milliseconds`}
      description={t`Where the request has none.`}
      inputMode="numeric"
      autoComplete="off"
      value={text}
      onChange={({ currentTarget: { value } }) => {
        setText(value);
        const timeout_ms = read(value);
        if (timeout_ms !== null) onChange({ ...rules, timeout_ms });
      }}
      error={read(text) === null && t`Enter a number from ${formatNumber(min)} to ${formatNumber(max)}.`}
    />
  );
}

/** The texts that there are, and a form for another one. */
function Messages({ rules, onChange }: { rules: Rules; onChange: Change }) {
  const { messages } = rules;
  const put = (ground: DecisionGround, language: string, text: string | null) => {
    const { [language]: _before, ...others } = messages[ground] ?? {};
    const texts = text === null ? others : { ...messages[ground], [language]: text };
    const { [ground]: _texts, ...rest } = messages;
    onChange({ ...rules, messages: Object.keys(texts).length === 0 ? rest : { ...rest, [ground]: texts } });
  };
  const there = DECISION_GROUNDS.flatMap((ground) =>
    Object.entries(messages[ground] ?? {}).map(([language, text]) => ({ ground, language, text })),
  );
  return (
    <Stack gap="xs" component="section" aria-label={t`Messages`}>
      <Title order={3}>{t`Messages`}</Title>
      <Text size="sm" c="dimmed" maw={640}>
        <Trans>
          For the person who entered the address. Without one of your own, there is one in English. {SUGGESTION} stands
          for the suggested address.
        </Trans>
      </Text>
      {there.map(({ ground, language, text }) => (
        <Group key={`${ground} ${language}`} gap="xs" wrap="nowrap" align="flex-start">
          <Text size="sm" flex={1} className="anywhere">
            {factText(GROUND_ROWS[ground].subject)} ({language}): “{text}”
          </Text>
          <Button
            size="xs"
            aria-label={t`Remove the message ${ground} ${language}`}
            onClick={() => put(ground, language, null)}
          >{t`Remove`}</Button>
        </Group>
      ))}
      <AddMessage onAdd={put} />
    </Stack>
  );
}

function AddMessage({ onAdd }: { onAdd: (ground: DecisionGround, language: string, text: string) => void }) {
  const [ground, setGround] = useState<DecisionGround>('disposable');
  const [language, setLanguage] = useState('en');
  const [text, setText] = useState('');
  const isComplete = language.trim() !== '' && text.trim() !== '';
  return (
    <div className={css.addMessage}>
      <NativeSelect
        label={t`For`}
        data={DECISION_GROUNDS.map((value) => ({ value, label: factText(GROUND_ROWS[value].subject) }))}
        value={ground}
        onChange={({ currentTarget: { value } }) => setGround(DECISION_GROUNDS.find((one) => one === value) ?? ground)}
      />
      <TextInput
        label={t`Language`}
        placeholder="de"
        maxLength={LANGUAGE_LENGTH.max}
        autoComplete="off"
        spellCheck={false}
        value={language}
        onChange={(event) => setLanguage(event.currentTarget.value)}
      />
      <TextInput
        label={t`Message`}
        placeholder={GROUND_ROWS[ground].message}
        maxLength={POLICY_MESSAGE_LENGTH.max}
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Button
        disabled={!isComplete}
        onClick={() => {
          onAdd(ground, language.trim(), text.trim());
          setText('');
        }}
      >{t`Add message`}</Button>
    </div>
  );
}
