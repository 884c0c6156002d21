import { Title } from '@mantine/core';
import { useSession } from '../../api/session.ts';
import { SampleBlock } from '../reference/sample-block.tsx';
import { verifySample } from '../reference/samples.ts';

/** How a key is used, in each language. */
export function FirstRequest() {
  const { user } = useSession();
  const email = user?.email ?? 'someone@gmail.com';
  return (
    <SampleBlock
      title={<Title order={2}>First request with a key</Title>}
      write={(language) => verifySample(language, location.origin, email)}
    />
  );
}
