/**
 * A small Internet for machines in network namespaces: a mail server at port 25 and a DNS server, in a process of their
 * own. Arguments: the address of each. What the mail server heard is printed as JSON, a line for each connection.
 */
import { zone } from '../dns.ts';
import { startSmtp } from '../smtp.ts';

const [mailServer = '', nameServer = '', relay = ''] = process.argv.slice(2);
/** Large providers, by which the doctor and the service try port 25. */
const PROVIDERS = ['gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com'];

await zone(
  {
    ...Object.fromEntries(PROVIDERS.map((domain) => [domain, { MX: [[10, `mx.${domain}`]] }])),
    ...Object.fromEntries(PROVIDERS.map((domain) => [`mx.${domain}`, { A: [mailServer] }])),
    'd0.com': { MX: [[10, 'mx.d0.com']] },
    'mx.d0.com': { A: [mailServer] },
    'probe1.example.com': { A: [relay], TXT: [`v=spf1 ip4:${relay} -all`] },
  },
  { port: 53, address: nameServer },
);
await startSmtp(
  {
    mailboxes: ['jane'],
    on({ verb, line }, { from }) {
      process.stdout.write(`${JSON.stringify({ from, verb, line })}\n`);
      return verb === 'EHLO' ? [`250-mx.google.com at your service, [${from}]`, '250 PIPELINING'] : undefined;
    },
  },
  { address: mailServer, port: 25 },
);
process.stdout.write('{"ready":true}\n');
