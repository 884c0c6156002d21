/** An authenticator app and a security key in software. */
import { createHash, createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const STEP_MS = 30_000;

/** RFC 6238 with SHA-1, six digits, steps of 30 s; `secret` in base32 (RFC 4648 §6). `steps` from now. */
export function totp(secret: string, steps = 0, now = Date.now()): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / STEP_MS) + steps));
  const mac = createHmac('sha1', base32(secret)).update(counter).digest();
  const at = mac.at(-1)! & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

function base32(text: string): Buffer {
  const bits = [...text]
    .map((c) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const ATTESTED = 0x40;

/** A security key (WebAuthn Level 3): ES256, no attestation, resident. */
export interface SecurityKey {
  readonly id: string;
  /** The result of navigator.credentials.create(), as JSON. */
  create(options: Record<string, unknown>, how: Ceremony): Record<string, unknown>;
  /** The result of navigator.credentials.get(), as JSON. */
  get(options: Record<string, unknown>, how: Ceremony): Record<string, unknown>;
}
export interface Ceremony {
  readonly origin: string;
  readonly rpId: string;
  /** Whether the key verified its user; default true. */
  readonly verified?: boolean;
}

export function securityKey(): SecurityKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(32);
  let count = 0;

  const authenticatorData = ({ rpId, verified = true }: Ceremony, flags: number, rest = Buffer.alloc(0)): Buffer => {
    const head = Buffer.alloc(5);
    head.writeUInt8(USER_PRESENT | (verified ? USER_VERIFIED : 0) | flags);
    head.writeUInt32BE(++count, 1);
    return Buffer.concat([createHash('sha256').update(rpId).digest(), head, rest]);
  };
  const clientData = (type: string, options: Record<string, unknown>, { origin }: Ceremony): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge: options.challenge, origin, crossOrigin: false }));
  const credential = (response: Record<string, unknown>): Record<string, unknown> => ({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    authenticatorAttachment: 'cross-platform',
    clientExtensionResults: {},
    response,
  });

  return {
    id: id.toString('base64url'),
    create(options, how) {
      // RFC 9053 §7.1.1: an EC2 key for ES256 on P-256.
      const key = cbor(
        new Map<unknown, unknown>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, bytes(x)],
          [-3, bytes(y)],
        ]),
      );
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const authData = authenticatorData(how, ATTESTED, Buffer.concat([Buffer.alloc(16), length, id, key]));
      const attestation = cbor(
        new Map<unknown, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', authData],
        ]),
      );
      return credential({
        clientDataJSON: clientData('webauthn.create', options, how).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['usb', 'nfc'],
      });
    },
    get(options, how) {
      const data = clientData('webauthn.get', options, how);
      const authData = authenticatorData(how, 0);
      const signed = Buffer.concat([authData, createHash('sha256').update(data).digest()]);
      return credential({
        clientDataJSON: data.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: sign('sha256', signed, privateKey).toString('base64url'),
      });
    },
  };
}

const bytes = (base64url: string): Buffer => Buffer.from(base64url, 'base64url');

/** The part of CBOR (RFC 8949) that a key needs: integers, byte and text strings, maps. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (!(value instanceof Map)) throw new TypeError('a kind of value that keys have no use for');
  return Buffer.concat([head(5, value.size), ...[...value].flat().map((part) => cbor(part))]);
}

function head(major: number, n: number): Buffer {
  if (n < 24) return Buffer.of((major << 5) | n);
  return n < 256 ? Buffer.of((major << 5) | 24, n) : Buffer.of((major << 5) | 25, n >> 8, n & 255);
}
