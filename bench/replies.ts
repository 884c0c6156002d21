/** Classification of SMTP replies: CPU time for each, on the labelled replies. */
import { readFileSync } from 'node:fs';
import { dataFile } from '../src/engine/data-files.ts';
import { ECHOES, type LabelledReply } from '../src/engine/smtp/classify/evaluation.ts';
import { createClassifier } from '../src/engine/smtp/classify.ts';
import { interleave, median } from './apparatus/measure.ts';
import type { Bench } from './apparatus/results.ts';

const ROUNDS = 25;
const AIM = 40;

export const replies: Bench = {
  name: 'replies',
  title: 'Classification of SMTP replies',
  async run() {
    const known: LabelledReply[] = JSON.parse(readFileSync(dataFile('sources/smtp-replies.json'), 'utf8'));
    const rows = known.filter(({ code }) => code >= 400);
    const { classify } = createClassifier();
    const each = (one: (reply: LabelledReply) => unknown) => () => {
      const began = process.cpuUsage();
      for (let i = 0; i < 5; i++) for (const reply of rows) one(reply);
      const { user, system } = process.cpuUsage(began);
      return (user + system) / (5 * rows.length);
    };
    const contestants = {
      classify: each((reply) => classify({ stage: 'rcpt', reply, operator: null, echoes: ECHOES })),
      floor: each(({ text }) => text.toLowerCase().split(' ')),
    };
    await interleave(5, contestants);
    const samples = await interleave(ROUNDS, contestants);
    const [typical, least] = [median(samples.classify), Math.min(...samples.classify)];
    const microseconds = (value: number): string => `${value.toFixed(1)} µs`;
    return {
      how: `CPU time for each of ${rows.length} labelled 4xx and 5xx replies; floor: lower case and split at spaces. ${ROUNDS} interleaved rounds.`,
      figures: [
        {
          what: 'a reply',
          value: microseconds(typical),
          floor: microseconds(median(samples.floor)),
          aim: { text: `under ${AIM} µs`, met: typical < AIM },
        },
        { what: 'a reply, in the quietest round', value: microseconds(least) },
      ],
    };
  },
};
