import { Alert } from '@mantine/core';
import { useLocation, useMatches } from '@tanstack/react-router';
import { useState } from 'react';
import { openedParameters } from '../parts/opened-parameters.ts';

/** Says which parameters of the URL were ignored, until the next step. */
export function IgnoredParameters() {
  const href = useLocation({ select: ({ href }) => href });
  const search = useMatches({ select: (matches) => matches.at(-1)?.search ?? {} });
  const [first] = useState(href);
  const [ignored] = useState(() => openedParameters.filter((name) => !Object.hasOwn(search, name)));
  if (ignored.length === 0 || href !== first) return null;
  return (
    <Alert variant="outline" mb="md" role="status" className="anywhere">
      {ignored.length === 1
        ? 'A part of this URL is not valid and was ignored: '
        : 'Parts of this URL are not valid and were ignored: '}
      {ignored.join(', ')}.
    </Alert>
  );
}
