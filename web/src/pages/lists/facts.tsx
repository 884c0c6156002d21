import { Alert } from '@mantine/core';
import type { Lists } from '../../api/schema.ts';
import { Fact, Facts } from '../../parts/facts.tsx';
import { count, counted } from '../../parts/words.ts';

/** Older than this it misses too much. */
const OLD_DAYS = 30;

/** The list in use. */
export function ListsFacts({ lists: { version, age_days, disposable_domains, problem } }: { lists: Lists }) {
  return (
    <>
      {problem !== null && (
        <Alert color="red" variant="outline" title="The newest list is not in use" className="anywhere">
          {problem}
        </Alert>
      )}
      {age_days > OLD_DAYS && (
        <Alert color="yellow" variant="outline" title="The list is old">
          It is {counted(age_days, 'day')} old. Update it now, and once a day from then on.
        </Alert>
      )}
      <Facts>
        <Fact term="Version">{version}</Fact>
        <Fact term="Age">{age_days === 0 ? 'Of today' : counted(age_days, 'day')}</Fact>
        <Fact term="Domains">{count(disposable_domains)}</Fact>
      </Facts>
    </>
  );
}
