import { describe, expect, it } from 'vitest';
import { readOptions, unknownVariables } from './read.ts';

describe('variables that are no options', () => {
  it('are named with the option that was probably meant, without their values', () => {
    const env = { MAILVET_PROT: '80', MAILVET_SMTP_HELLO: 'secret', MAILVET_COLOR: 'red', MAILVET_HOST_FILE: 'x' };
    expect(unknownVariables({ ...env, PORT: '1', MAILVET_PORT: '2', MAILVET_AUTH_SECRET_FILE: '/x' })).toEqual([
      'MAILVET_PROT is not an option; did you mean MAILVET_PORT?',
      'MAILVET_SMTP_HELLO is not an option; did you mean MAILVET_SMTP_HELO?',
      'MAILVET_COLOR is not an option',
      'MAILVET_HOST_FILE is not an option; did you mean MAILVET_HOST?',
    ]);
  });

  it('may be set by Kubernetes', () => {
    const tcp = 'tcp://10.0.0.1:8025';
    const env = { MAILVET_SERVICE_HOST: '10.0.0.1', MAILVET_WEB_SERVICE_PORT_HTTP: '1', MAILVET_WEB_PORT_80_TCP: tcp };
    expect(unknownVariables(env)).toEqual([]);
  });
});

describe('options of the client commands', () => {
  it('stop these commands, and no others', () => {
    const env = { MAILVET_URL: 'nonsense', MAILVET_KEY: 'a b' };
    expect(readOptions(env, {}, 'box.example.com', 'lists')).toMatchObject({ ok: false });
    for (const command of ['serve', 'doctor', 'migrate'])
      expect(readOptions(env, {}, 'box.example.com', command)).toMatchObject({ ok: true });
  });
});
