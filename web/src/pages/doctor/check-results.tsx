import { Box, List, Stack, Text, Title } from '@mantine/core';
import type { Doctor } from '../../api/schema.ts';
import { pluralize } from '../../parts/format.ts';
import { keysOf } from '../../parts/keys-of.ts';

type CheckResult = Doctor['checks'][number];

/** Worst first. Each group has a symbol and a title in addition to its color. */
const GROUPS: Readonly<Record<CheckResult['result'], { sign: string; title: string; color: string }>> = {
  fail: { sign: '✕', title: 'Failed', color: 'var(--mantine-color-error)' },
  warn: { sign: '!', title: 'Warnings', color: 'var(--mantine-color-yellow-outline)' },
  pass: { sign: '✓', title: 'Passed', color: 'var(--mantine-color-green-outline)' },
};

const CHECK_LABELS: Readonly<Record<CheckResult['check'], string>> = {
  resolver: 'DNS resolver',
  port: 'Outbound port 25',
  helo: 'HELO name',
  egress: 'Egress IP address',
  ptr: 'Reverse DNS (PTR)',
  spf: 'Sender SPF',
  blocklists: 'Blocklists',
  lists: 'Disposable list',
  store: 'Database',
  clock: 'Clock',
};

export function CheckResults({ checks }: { checks: readonly CheckResult[] }) {
  return (
    <Stack>
      {keysOf(GROUPS).map((result) => {
        const { sign, title, color } = GROUPS[result];
        const found = checks.filter((check) => check.result === result);
        if (found.length === 0) return null;
        return (
          <Box component="section" key={result} aria-labelledby={`checks-${result}`}>
            <Title order={2} id={`checks-${result}`} mb="xs" style={{ color }}>
              <span aria-hidden="true">{sign}</span> {title}: {pluralize(found.length, 'check')}
            </Title>
            <List listStyleType="none" spacing="sm" withPadding={false}>
              {found.map((check) => (
                // A host with several addresses has one result each.
                <List.Item key={`${check.check} ${check.found}`}>
                  <Check {...check} />
                </List.Item>
              ))}
            </List>
          </Box>
        );
      })}
    </Stack>
  );
}

const Check = ({ check, found, fix }: CheckResult) => (
  <>
    <Text size="sm" fw={600}>
      {CHECK_LABELS[check]}
    </Text>
    <Text size="sm" className="anywhere">
      {found}
    </Text>
    {fix !== null && (
      <Text size="sm" className="anywhere">
        <strong>Fix:</strong> {fix}
      </Text>
    )}
  </>
);
