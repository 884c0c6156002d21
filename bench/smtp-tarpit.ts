/** Whether tarpits delay addresses at other servers. */
import { startPartner } from './apparatus/children.ts';
import { startProber } from './apparatus/mailbox-load.ts';
import { interleave, median, medianRatio } from './apparatus/measure.ts';
import { type Bench, type Finding, number, ratio } from './apparatus/results.ts';
import { NO_SINK, startSink } from './apparatus/sink.ts';
import type { SlowServer } from './apparatus/slow-server.ts';

const ROUNDS = 13;
const COUNT = 1000;
const NORMAL = '127.0.0.2';
const CONNECTIONS = 20;
/** Each in a network of its own, with as many dialogues as one address may have. */
const TARPITS = Array.from({ length: COUNT / CONNECTIONS }, (_, i) => `127.1.${i}.1`);
const AIM = 1.2;

export const smtpTarpit: Bench = {
  name: 'smtp-tarpit',
  title: 'Tarpits next to normal mail servers',
  async run(): Promise<Finding> {
    const sink = await startSink([NORMAL]);
    if (sink === null) return { how: 'Not measured.', figures: [], leftOut: [NO_SINK] };
    const server = await startPartner('slow-server.ts');
    for (const address of TARPITS) {
      await server.ask({ is: 'listen', address, port: sink.port, how: 'drip' } satisfies SlowServer);
    }
    const prober = await startProber();
    const common = { who: 'check', port: sink.port, addresses: [NORMAL], domains: 100, count: COUNT } as const;
    const load = { ...common, open: CONNECTIONS, connectionsPerHost: CONNECTIONS, recipientsPerSession: 1 };
    const contestants = {
      beside: () => prober.run({ ...load, tarpits: { addresses: TARPITS, count: COUNT } }),
      alone: () => prober.run(load),
    };
    await interleave(2, { alone: contestants.alone });
    await interleave(1, contestants);
    const { beside, alone } = await interleave(ROUNDS, contestants);
    await prober.end();
    await server.end();
    await sink.stop();
    const figure = (key: 'p50' | 'p99') => {
      const [a, b] = [beside, alone].map((all) => all.map((one) => one[key])) as [number[], number[]];
      const values = { value: `${number(median(a))} ms`, floor: `${number(median(b))} ms` };
      return { ...values, share: medianRatio(a, b) };
    };
    const { share: middle, ...p50 } = figure('p50');
    const { share, ...p99 } = figure('p99');
    return {
      how: HOW,
      figures: [
        { what: 'Normal addresses, p50', ...p50, ratio: ratio(middle) },
        {
          what: 'Normal addresses, p99',
          ...p99,
          ratio: ratio(share),
          aim: { text: `≤ ${AIM}`, met: share <= AIM },
        },
      ],
    };
  },
};

const HOW =
  `${ROUNDS} rounds of ${COUNT.toLocaleString('en-US')} addresses at one mail host (smtp-sink on loopback), ${CONNECTIONS} ` +
  `at once, while ${COUNT.toLocaleString('en-US')} dialogues in the same process are held by tarpits of other operators ` +
  'that send one octet of banner per second; the floor is the same without tarpits. Time from request to result.';
