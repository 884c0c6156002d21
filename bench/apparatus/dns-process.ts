/** The laboratory's DNS server in a separate process. */
import { CONTROL_ZONE, type DnsLab, type Zone, zone } from '../../tests/lab/dns.ts';
import { answer } from './children.ts';

answer<Zone>(async (records) => {
  const lab: DnsLab = await zone({ ...CONTROL_ZONE, ...records });
  // It records all questions for tests, too many in a benchmark.
  setInterval(() => lab.queries.splice(0), 100).unref();
  return lab.port;
});
