/**
 * The samples of docs/auth-servers.md, run against the service: the auth servers around them are as small as the
 * samples need.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sample, samplesOf } from '../lab/samples.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

const PAGE = 'docs/auth-servers.md';
const run = promisify(execFile);
const REJECTED = 'Use a permanent email address.';
const ADDRESSES = { good: 'jane@good.com', bad: 'jane@mailinator.com' } as const;

const samples = samplesOf(PAGE);
function sampleWith(text: string): string {
  const found = samples.filter(({ code }: Sample) => code.includes(text));
  expect(found).toHaveLength(1);
  return found[0]?.code ?? '';
}

let lab: Lab;
let member: Member;
let dir: string;
beforeAll(async () => {
  lab = await startLab();
  member = await lab.member();
  dir = mkdtempSync(join(tmpdir(), 'mailvet-auth-'));
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await lab.close();
});

/** `url`: nobody answers at any other. */
async function program(name: string, code: string, url = lab.url) {
  writeFileSync(join(dir, name), code);
  const { PATH = '' } = process.env;
  const env = { PATH, MAILVET_URL: url, MAILVET_KEY: member.key, CLERK_SECRET_KEY: 'sk_test' };
  const { stdout } = await run(process.execPath, [join(dir, name)], { env });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? 'null');
}
const NOWHERE = 'http://127.0.0.1:9';

describe('Auth0', () => {
  const signUp = (email: string | undefined, url?: string) =>
    program(
      'auth0.cjs',
      `${sampleWith('onExecutePreUserRegistration')}
      const denied = [];
      const api = { access: { deny: (...args) => denied.push(args) }, user: { setAppMetadata() {} } };
      const event = {
        user: ${JSON.stringify(email === undefined ? {} : { email })},
        request: { ip: '192.0.2.7', language: 'en' },
        secrets: process.env,
      };
      exports.onExecutePreUserRegistration(event, api).then(() => console.log(JSON.stringify(denied)));`,
      url,
    );

  it('denies what the policy rejects, and nothing else', async () => {
    expect(await signUp(ADDRESSES.good)).toEqual([]);
    expect(await signUp(ADDRESSES.bad)).toEqual([['disposable', REJECTED]]);
    expect(await signUp(undefined)).toEqual([]);
    expect(await signUp(ADDRESSES.bad, NOWHERE)).toEqual([]);
  });
});

describe('Amazon Cognito', () => {
  const signUp = (userAttributes: object, url?: string) =>
    program(
      'cognito.mjs',
      `${sampleWith('export const handler')}
      const event = {
        version: '1',
        triggerSource: 'PreSignUp_SignUp',
        region: 'us-east-1',
        userPoolId: 'us-east-1_ABC123',
        userName: 'johndoe',
        request: { userAttributes: ${JSON.stringify(userAttributes)}, validationData: null },
        response: { autoConfirmUser: false, autoVerifyEmail: false, autoVerifyPhone: false },
      };
      const result = await handler(event).then((same) => same === event, (error) => error.message);
      console.log(JSON.stringify(result));`,
      url,
    );

  it('gets an error for what the policy rejects, and its event for all others', async () => {
    expect(await signUp({ email: ADDRESSES.good })).toBe(true);
    expect(await signUp({ email: ADDRESSES.bad })).toBe(REJECTED);
    expect(await signUp({ phone_number: '+15550100' })).toBe(true);
    expect(await signUp({ email: ADDRESSES.bad }, NOWHERE)).toBe(true);
  });
});

describe('Firebase', () => {
  const IDENTITY = `export class HttpsError extends Error {
    constructor(code, message) { super(message); this.code = code; }
  }
  export const beforeUserCreated = (options, handler) => handler;`;
  const signUp = (data: object, url?: string) => {
    writeFileSync(join(dir, 'identity.mjs'), IDENTITY);
    const code = sampleWith('beforeUserCreated').replace("'firebase-functions/v2/identity'", "'./identity.mjs'");
    return program(
      'firebase.mjs',
      `${code}
      const event = { data: ${JSON.stringify(data)}, ipAddress: '192.0.2.7', locale: 'en' };
      const result = await beforeCreated(event).then(() => 'created', ({ code, message }) => ({ code, message }));
      console.log(JSON.stringify(result));`,
      url,
    );
  };

  it('gets an error for what the policy rejects, and nothing else', async () => {
    expect(await signUp({ email: ADDRESSES.good })).toBe('created');
    expect(await signUp({ email: ADDRESSES.bad })).toEqual({ code: 'invalid-argument', message: REJECTED });
    expect(await signUp({ phoneNumber: '+15550100' })).toBe('created');
    expect(await signUp({ email: ADDRESSES.bad }, NOWHERE)).toBe('created');
  });
});

describe('Clerk', () => {
  const BACKEND = `export const banned = [];
  export const createClerkClient = () => ({ users: { async banUser(id) { banned.push(id); } } });`;
  const WEBHOOKS = 'export const verifyWebhook = (request) => request.json();';
  const signUp = (email: string | null) => {
    writeFileSync(join(dir, 'backend.mjs'), BACKEND);
    writeFileSync(join(dir, 'clerk-webhooks.mjs'), WEBHOOKS);
    const code = sampleWith('verifyWebhook')
      .replace("'@clerk/backend'", "'./backend.mjs'")
      .replace("'@clerk/backend/webhooks'", "'./clerk-webhooks.mjs'");
    const addresses = email === null ? [] : [{ id: 'idn_1', email_address: email }];
    const data = {
      id: `user_${email}`,
      email_addresses: addresses,
      primary_email_address_id: email === null ? null : 'idn_1',
    };
    return program(
      'clerk.mjs',
      `${code}
      import { banned } from './backend.mjs';
      const body = ${JSON.stringify(JSON.stringify({ type: 'user.created', data }))};
      const statuses = [];
      for (const _ of [1, 2])
        statuses.push((await POST(new Request('http://app/webhooks', { method: 'POST', body }))).status);
      console.log(JSON.stringify({ banned, statuses }));`,
    );
  };

  it('bans what the policy rejects, and is charged once for a webhook that comes again', async () => {
    const balance = async () => (await lab.store.accounts.get(member.account.id))?.balance ?? 0;
    const before = await balance();
    const statuses = [204, 204];
    expect(await signUp(ADDRESSES.good)).toEqual({ banned: [], statuses });
    const id = `user_${ADDRESSES.bad}`;
    expect(await signUp(ADDRESSES.bad)).toEqual({ banned: [id, id], statuses });
    expect(await signUp(null)).toEqual({ banned: [], statuses });
    expect(before - (await balance())).toBe(2);
  });
});

/** As much of Keycloak as the class names. */
const KEYCLOAK: Readonly<Record<string, string>> = {
  'org/keycloak/authentication/FormAction.java': `package org.keycloak.authentication;
    import org.keycloak.forms.login.LoginFormsProvider;
    import org.keycloak.models.*;
    public interface FormAction {
      void buildPage(FormContext context, LoginFormsProvider form);
      void validate(ValidationContext context);
      void success(FormContext context);
      boolean requiresUser();
      boolean configuredFor(KeycloakSession session, RealmModel realm, UserModel user);
      void setRequiredActions(KeycloakSession session, RealmModel realm, UserModel user);
      void close();
    }`,
  'org/keycloak/authentication/FormContext.java':
    'package org.keycloak.authentication; public interface FormContext { org.keycloak.http.HttpRequest getHttpRequest(); }',
  'org/keycloak/authentication/ValidationContext.java': `package org.keycloak.authentication;
    import java.util.List;
    import org.keycloak.http.MultivaluedMap;
    import org.keycloak.models.utils.FormMessage;
    public interface ValidationContext extends FormContext {
      void success();
      void error(String error);
      void validationError(MultivaluedMap formData, List<FormMessage> errors);
    }`,
  'org/keycloak/http/HttpRequest.java':
    'package org.keycloak.http; public interface HttpRequest { MultivaluedMap getDecodedFormParameters(); }',
  'org/keycloak/http/MultivaluedMap.java':
    'package org.keycloak.http; public interface MultivaluedMap { String getFirst(String key); }',
  'org/keycloak/forms/login/LoginFormsProvider.java':
    'package org.keycloak.forms.login; public interface LoginFormsProvider {}',
  'org/keycloak/models/KeycloakSession.java': 'package org.keycloak.models; public interface KeycloakSession {}',
  'org/keycloak/models/RealmModel.java': 'package org.keycloak.models; public interface RealmModel {}',
  'org/keycloak/models/UserModel.java': 'package org.keycloak.models; public interface UserModel {}',
  'org/keycloak/models/utils/FormMessage.java': `package org.keycloak.models.utils;
    public class FormMessage {
      public final String field, message;
      public FormMessage(String field, String message) { this.field = field; this.message = message; }
    }`,
  // Jackson in Keycloak: here, what the class writes and reads.
  'org/keycloak/util/JsonSerialization.java': `package org.keycloak.util;
    import java.util.Map;
    import java.util.regex.*;
    public class JsonSerialization {
      public static String writeValueAsString(Object value) {
        StringBuilder json = new StringBuilder("{");
        for (Map.Entry<?, ?> e : ((Map<?, ?>) value).entrySet()) {
          if (json.length() > 1) json.append(",");
          json.append('"').append(e.getKey()).append("\\":");
          json.append(e.getValue() instanceof String ? "\\"" + e.getValue() + "\\"" : String.valueOf(e.getValue()));
        }
        return json.append("}").toString();
      }
      public static <T> T readValue(String json, Class<T> type) throws java.io.IOException {
        Matcher m = Pattern.compile("\\"decision\\":\\\\{\\"action\\":\\"(\\\\w+)\\".*?\\"message\\":(?:null|\\"([^\\"]*)\\")").matcher(json);
        if (!m.find()) throw new java.io.IOException("no decision in " + json);
        Map<String, Object> decision = new java.util.HashMap<>();
        decision.put("action", m.group(1));
        decision.put("message", m.group(2));
        return type.cast(Map.of("decision", decision));
      }
    }`,
  'Main.java': `import java.util.List;
    import org.keycloak.authentication.ValidationContext;
    import org.keycloak.http.*;
    import org.keycloak.models.utils.FormMessage;
    public class Main {
      public static void main(String[] args) {
        for (String email : args) {
          new com.example.MailvetFormAction().validate(new ValidationContext() {
            public HttpRequest getHttpRequest() { return () -> key -> email.isEmpty() ? null : email; }
            public void success() { System.out.println("success"); }
            public void error(String error) {}
            public void validationError(MultivaluedMap data, List<FormMessage> errors) {
              System.out.println(errors.get(0).field + ": " + errors.get(0).message);
            }
          });
        }
      }
    }`,
};

const javac = await run('javac', ['-version']).then(
  () => true,
  () => false,
);

describe.skipIf(!javac)('Keycloak (needs javac)', () => {
  it('refuses what the policy rejects, and nothing else', async () => {
    const sources = { ...KEYCLOAK, 'com/example/MailvetFormAction.java': sampleWith('class MailvetFormAction') };
    const files = Object.entries(sources).map(([name, code]) => {
      const file = join(dir, 'keycloak', name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, code);
      return file;
    });
    const classes = join(dir, 'classes');
    await run('javac', ['-d', classes, ...files]);
    const { PATH = '' } = process.env;
    const register = async (url: string, ...emails: string[]) => {
      const env = { PATH, MAILVET_URL: url, MAILVET_KEY: member.key };
      return (await run('java', ['-cp', classes, 'Main', ...emails], { env })).stdout.trim().split('\n');
    };
    expect(await register(lab.url, ADDRESSES.good, ADDRESSES.bad, '')).toEqual([
      'success',
      `email: ${REJECTED}`,
      'success',
    ]);
    expect(await register(NOWHERE, ADDRESSES.bad)).toEqual(['success']);
  });
});
