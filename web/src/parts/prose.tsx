import { Code } from '@mantine/core';

/** A text with code in backticks. */
export const Prose = ({ text }: { text: string }) =>
  text.split('`').map((part, i) =>
    // Parts of a fixed text: they never change places.
    i % 2 === 0 ? part : <Code key={`${i} ${part}`}>{part}</Code>,
  );
