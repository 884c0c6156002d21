import { Box, List, Stack, Text, Title } from '@mantine/core';
import type { Doctor } from '../../api/schema.ts';
import { counted } from '../../parts/words.ts';

type Finding = Doctor['checks'][number];

/** Worst first; each group has a sign and a word beside its colour. */
const GROUPS = [
  { result: 'fail', sign: '✕', title: 'Failed', colour: 'var(--mantine-color-error)' },
  { result: 'warn', sign: '!', title: 'To look at', colour: 'var(--mantine-color-yellow-outline)' },
  { result: 'pass', sign: '✓', title: 'Passed', colour: 'var(--mantine-color-green-outline)' },
] as const satisfies readonly { result: Finding['result']; sign: string; title: string; colour: string }[];

const CHECKS: Readonly<Record<string, string>> = {
  resolver: 'DNS resolver',
  port: 'Port 25 outwards',
  helo: 'HELO name',
  egress: 'Address that mail servers see',
  ptr: 'Reverse DNS (PTR)',
  spf: 'SPF of the sender',
  blocklists: 'Blocklists',
  lists: 'Disposable list',
  store: 'Store',
  clock: 'Clock',
};

export function Findings({ checks }: { checks: readonly Finding[] }) {
  return (
    <Stack>
      {GROUPS.map(({ result, sign, title, colour }) => {
        const found = checks.filter((check) => check.result === result);
        if (found.length === 0) return null;
        return (
          <Box component="section" key={result} aria-labelledby={`checks-${result}`}>
            <Title order={2} id={`checks-${result}`} mb="xs" style={{ color: colour }}>
              <span aria-hidden="true">{sign}</span> {title}: {counted(found.length, 'check')}
            </Title>
            <List listStyleType="none" spacing="sm" withPadding={false}>
              {found.map((check) => (
                // A host with several addresses has a line for each.
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

const Check = ({ check, found, fix }: Finding) => (
  <>
    <Text size="sm" fw={600}>
      {CHECKS[check] ?? check}
    </Text>
    <Text size="sm" className="anywhere">
      {found}
    </Text>
    {fix !== null && (
      <Text size="sm" className="anywhere">
        <strong>What to do:</strong> {fix}
      </Text>
    )}
  </>
);
