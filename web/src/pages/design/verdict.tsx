import { Verdict } from '../../parts/verdict/verdict.tsx';
import { Sample } from './sample.tsx';
import { VERIFICATION } from './samples.ts';

/** A verification in full, with its evidence. */
export const OneVerdict = () => (
  <Sample title="A verdict in full">
    <Verdict reply={VERIFICATION} onSuggestion={() => undefined} />
  </Sample>
);
