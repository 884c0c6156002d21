/**
 * What notifications of Amazon SNS are proved by: certificates that only SNS serves, and how a topic is subscribed to.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 */
import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import { SIGNING_CERTIFICATE_BYTES } from '../../kernel/facts/limits.ts';
import type { Post } from './post.ts';

interface SnsDeps {
  readonly post: Post;
  readonly clock: Clock;
  /** Test setups only: SNS may be a server of the laboratory, without TLS and on any port. */
  readonly laboratory: boolean;
}

export const SNS_TOPIC = /^arn:aws[a-z-]{0,12}:sns:([a-z]{2}[a-z0-9-]{2,30}):\d{12}:[A-Za-z0-9_-]{1,256}(?:\.fifo)?$/;
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[0-9A-Za-z]{1,128}\.pem$/;
const SNS_TIMEOUT_MS = 5_000;
const CERTIFICATES_KEPT = 100;
/** How long a certificate is used before it is fetched again, ms. */
const CERTIFICATE_KEPT_MS = 6 * 3_600_000;

/** Returns the host of the topic's region; China has a suffix of its own. */
const topicHost = (topic: string): string | null => {
  const region = SNS_TOPIC.exec(topic)?.[1];
  return region === undefined ? null : `sns.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
};

export function createSns({ post, clock, laboratory }: SnsDeps) {
  const kept = new LRUCache<string, X509Certificate>({ max: CERTIFICATES_KEPT, ttl: CERTIFICATE_KEPT_MS });
  /**
   * SNS has this origin in a laboratory, where it is not at the port of HTTPS; it is learned from the URLs of
   * certificates.
   */
  let origin: string | null = null;

  async function get(url: string, replyBytes: number): Promise<string> {
    const request = { method: 'GET', url, headers: {}, body: '', timeoutMs: SNS_TIMEOUT_MS, replyBytes } as const;
    const { status, response, error } = await post({ ...request, signal: new AbortController().signal });
    if (status === 200) return response;
    throw new Error(`SNS did not answer: ${error ?? `status ${status}`}.`);
  }

  function pinned(text: string, topic: string): URL | null {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || url.hostname !== topicHost(topic) || !CERTIFICATE_PATH.test(url.pathname)) return null;
    const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
    const isSecure = url.protocol === 'https:' && url.port === '';
    return isPlain && (isSecure || laboratory) ? url : null;
  }

  return {
    /**
     * The certificate that a notification names, if it is one of SNS in the region of the topic and valid now; null
     * otherwise. Rejects where it could not be fetched.
     */
    async certificate(text: string, topic: string) {
      const url = pinned(text, topic);
      if (url === null) return null;
      if (laboratory) origin = url.origin;
      const known = kept.get(url.href);
      const certificate = known ?? signerIn(await get(url.href, SIGNING_CERTIFICATE_BYTES), url.hostname);
      if (certificate === null) return null;
      kept.set(url.href, certificate);
      const now = clock.now();
      return certificate.validFromDate.getTime() <= now && now <= certificate.validToDate.getTime()
        ? certificate
        : null;
    },

    /** Confirms the subscription to a topic. The address is ours, not that of the message. Rejects where it failed. */
    async confirm(topic: string, token: string) {
      const host = topicHost(topic);
      if (host === null) throw new TypeError('A topic that is subscribed to has an ARN.');
      const query = new URLSearchParams({ Action: 'ConfirmSubscription', TopicArn: topic, Token: token });
      await get(`${origin ?? `https://${host}`}/?${query}`, 1024);
    },
  };
}

export type Sns = ReturnType<typeof createSns>;

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]{1,8192}-----END CERTIFICATE-----/g;
const CHAIN_MAX = 5;

function certificateIn(pem: string): X509Certificate | null {
  try {
    return new X509Certificate(pem);
  } catch {
    return null;
  }
}

const isIssued = (one: X509Certificate, by: X509Certificate): boolean =>
  by.ca && one.checkIssued(by) && one.verify(by.publicKey);

/**
 * The first certificate of a file, if it is one of SNS. What follows has to be its chain, up to a root that Node
 * trusts; without one, the file is trusted as far as the connection was on which its host served it.
 */
function signerIn(pem: string, host: string): X509Certificate | null {
  const blocks = pem.match(BLOCK) ?? [];
  const chain = blocks.slice(0, CHAIN_MAX).map(certificateIn);
  const [signer = null] = chain;
  if (signer === null || blocks.length > CHAIN_MAX) return null;
  if (signer.checkHost(host) === undefined && signer.checkHost('sns.amazonaws.com') === undefined) return null;
  for (const [at, one] of chain.entries()) {
    const next = chain[at + 1];
    if (one === null || next === null) return null;
    if (next !== undefined ? !isIssued(one, next) : at > 0 && !isRooted(one)) return null;
  }
  return signer;
}

const isRooted = (one: X509Certificate): boolean =>
  rootCertificates.some((root) => {
    const known = certificateIn(root);
    return known !== null && (known.fingerprint256 === one.fingerprint256 || isIssued(one, known));
  });
