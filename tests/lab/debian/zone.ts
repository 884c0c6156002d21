/** The names of the laboratory: one zone file for the whole tree, including the root. */

/** Domain → the last octet of its mail server's address; the server's name is `mx.` and the domain. */
const SERVERS: Readonly<Record<string, number>> = {
  // Postfix (config/master.cf)
  'plain.test': 1,
  'catchall.test': 2,
  'grey.test': 3,
  'pregreet.test': 4,
  'deep.test': 5,
  'states.test': 6,
  'tls.test': 7,
  'strict.test': 8,
  'unwelcome.test': 9,
  'onercpt.test': 10,
  'slow.test': 11,
  'tarpit.test': 12,
  'norelay.test': 13,
  'rbl.test': 14,
  'rblbanner.test': 15,
  'screenbl.test': 16,
  'ascii.test': 17,
  'busy.test': 18,
  'oneerror.test': 19,
  'front.test': 20,
  'front450.test': 21,
  'rdns.test': 22,
  'helo.test': 23,
  'sender.test': 24,
  'plainold.test': 25,
  'greyall.test': 26,
  'greyfirst.test': 27,
  'shut.test': 28,
  'xn--exmple-cua.test': 1,
  // Exim (config/exim.conf)
  'exim.test': 40,
  'eximany.test': 41,
  'eximcpanel.test': 42,
  'eximpolicy.test': 43,
  'eximsender.test': 44,
  'eximcallout.test': 45,
  'eximslow.test': 46,
  'eximbl.test': 47,
  'eximdefer.test': 48,
  'eximrelay.test': 40,
  'eximtls.test': 49,
  // OpenSMTPD (config/smtpd.conf)
  'open.test': 60,
  'openany.test': 61,
  'opentls.test': 62,
  'openrdns.test': 63,
  'openrelay.test': 60,
  // Nothing listens there.
  'down.test': 250,
};

/** `fit`: everything is in order. `unfit`: no reverse DNS, on a blocklist, HELO name and sender domain do not exist. */
export const EGRESS_HOSTS = {
  fit: { octet: 200, helo: 'verifier.mailvet.test', from: 'verify@verifier.mailvet.test' },
  unfit: { octet: 201, helo: 'nowhere.invalid-names.test', from: 'verify@nowhere.invalid-names.test' },
} as const;

/** Domains that differ only in their DNS; `%` is the laboratory's network. */
const SPECIAL = `
null-mx.test.            MX 0 .
no-mail.test.            TXT "v=spf1 -all"
implicit.test.           A %.1
backup.test.             MX 10 mx.down.test.
backup.test.             MX 20 mx.plain.test.
downfirst.test.          MX 10 mx.shut.test.
downfirst.test.          MX 20 mx.plain.test.
cname.test.              CNAME plain.test.
mxcname.catchall.test.   CNAME mx.catchall.test.
mx-local.test.           MX 10 localhost.
mx-noaddress.test.       MX 10 mx.mx-noaddress.test.
mx.mx-noaddress.test.    TXT "no address"
; Delegated to a server that is not there: the resolver says SERVFAIL.
lame.test.               NS ns.lame.test.
ns.lame.test.            A %.251
; Blocklist with the unfit egress.
201.$.bl.lab.test.       A 127.0.0.2
201.$.bl.lab.test.       TXT "see https://bl.lab.test/?ip=%.201"
verifier.mailvet.test.   A %.200
verifier.mailvet.test.   MX 10 mx.open.test.
bl.lab.test.             TXT "a blocklist"
`;

/**
 * The zone file. `net`: the first three octets of the laboratory's addresses. `personas`: MX host → last octet, and
 * which domains it serves.
 */
export function rootZone(net: string, personas: Readonly<Record<string, { host: string; octet: number }>>): string {
  const reversed = net.split('.').reverse().join('.');
  const lines = [
    '$ORIGIN .',
    '$TTL 300',
    '. SOA ns.lab.test. hostmaster.lab.test. 1 3600 600 86400 60',
    '. NS ns.lab.test.',
    `ns.lab.test. A ${net}.252`,
    ...SPECIAL.replaceAll('%', net).replaceAll('$', reversed).trim().split('\n'),
    `${EGRESS_HOSTS.fit.octet}.${reversed}.in-addr.arpa. PTR ${EGRESS_HOSTS.fit.helo}.`,
  ];
  for (const [domain, octet] of Object.entries(SERVERS)) {
    lines.push(`${domain}. MX 10 mx.${domain}.`, `mx.${domain}. A ${net}.${octet}`);
  }
  for (const [domain, { host, octet }] of Object.entries(personas)) {
    lines.push(`${domain}. MX 10 ${host}.`, `${host}. A ${net}.${octet}`);
  }
  for (let n = 0; n < 40; n++) lines.push(`many.test. MX ${n} mx${n}.many.test.`, `mx${n}.many.test. A ${net}.1`);
  return `${lines.join('\n')}\n`;
}

/** Last octets of the real mail servers. */
export const MAIL_SERVER_OCTETS: readonly number[] = [...new Set(Object.values(SERVERS))].filter((n) => n < 200);
