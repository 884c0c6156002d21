/** The tools for assistants (Model Context Protocol) are the same over HTTP and standard input. */
import Type, { type TObject, type TSchema } from 'typebox';
import { ExplainReplyReply, ExplainReplyRequest } from '../../contract/dashboard/replies.ts';
import { ListReply, ListUpload } from '../../contract/lists.ts';
import { DecisionField } from '../../contract/policies.ts';
import { Nullable, type Read, WithWarnings } from '../../contract/schema.ts';
import { UsageReply } from '../../contract/usage.ts';
import { VerifyReply, VerifyRequest } from '../../contract/verify.ts';
import { toApiError } from '../../kernel/errors.ts';
import { COMPAT_BATCH_AT_ONCE, MCP_EMAILS } from '../../kernel/facts/limits.ts';
import type { KeyScope } from '../../kernel/facts/scopes.ts';
import { jsonReader, NO_WARNINGS } from '../input/reader.ts';
import { mapConcurrently } from '../map-concurrently.ts';
import type { ReplyBody } from '../route.ts';

type VerifyInput = Read<typeof VerifyRequest>;

const { email: _one, ...checkFields } = VerifyRequest.properties;
const SeveralRequest = Type.Object({
  emails: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: MCP_EMAILS,
    description: 'The addresses to check.',
    'x-error': `emails must be a list of 1 to ${MCP_EMAILS} addresses.`,
  }),
  ...checkFields,
});
const SeveralReply = Type.Object({
  results: Type.Array(
    Type.Object({
      email: Type.String(),
      result: Nullable(VerifyReply),
      error: Nullable(
        Type.Object({ error: Type.String(), code: Type.String(), decision: Type.Optional(DecisionField) }),
      ),
    }),
    { description: 'In the order of the addresses; each has a result or an error.' },
  ),
});
const ListRequest = Type.Object({
  emails: Type.Array(Type.String(), {
    minItems: 1,
    description: 'The addresses. For files and long lists, use POST /v1/lists.',
    'x-error': 'emails must be a list of at least one address.',
  }),
  name: ListUpload.properties.name,
  validation_type: ListUpload.properties.validation_type,
  policy: ListUpload.properties.policy,
  dedupe: ListUpload.properties.dedupe,
});
type ListInput = Read<typeof ListRequest>;
const IdRequest = Type.Object({ id: Type.String({ description: 'Of the list: lst_…' }) });

/** What the tools work on: a service with the caller's key, or the engine alone. Each throws ApiError. */
export interface McpBackend {
  verify(input: VerifyInput): Promise<object>;
  explain(input: Read<typeof ExplainReplyRequest>): Promise<ReplyBody<typeof ExplainReplyReply>>;
  /** Counts a call that cannot be used as one of the scope: whoever sends such calls is limited as well. */
  countUnusable(scope: KeyScope): Promise<void>;
  /** What needs an account; null: there is none. */
  readonly account: {
    createList(input: ListInput): Promise<object>;
    getList(id: string): Promise<object>;
    usage(): Promise<object>;
  } | null;
}

interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: TSchema;
  readonly output: TSchema;
  /** Whether it changes nothing but the log, the balance and, where asked, what is remembered. */
  readonly readOnly: boolean;
  readonly needsAccount: boolean;
  /** The scope of the keys that may call it. */
  readonly scope: KeyScope;
  readonly call: (backend: McpBackend, input: unknown) => Promise<object>;
}

/** Its result names what the input has beyond the schema. */
function tool<T extends TSchema>(
  row: Omit<Tool, 'input' | 'output' | 'call'> & {
    readonly input: T;
    readonly output: TObject;
    readonly call: (backend: McpBackend, input: Read<T>) => Promise<object>;
  },
): Tool {
  const read = jsonReader(row.input);
  return {
    ...row,
    output: WithWarnings(row.title, row.output),
    call: async (backend, input) => {
      const parsed = read(input);
      if (!parsed.ok) {
        await backend.countUnusable(row.scope);
        throw parsed.error;
      }
      const result = await row.call(backend, parsed.value);
      return { ...result, warnings: parsed.warnings ?? NO_WARNINGS };
    },
  };
}

const requireBackendAccount = ({ account }: McpBackend): NonNullable<McpBackend['account']> => {
  if (account === null) throw new TypeError('This tool needs an account.');
  return account;
};

const readOne = jsonReader(VerifyRequest);

/** An address that cannot be one by its length is an error of its own, not of all. */
async function toolResult(backend: McpBackend, input: VerifyInput): Promise<object> {
  const { email } = input;
  try {
    const one = readOne({ ...input });
    if (one.ok) return { email, result: await backend.verify(one.value), error: null };
    await backend.countUnusable('verify');
    throw one.error;
  } catch (thrown) {
    const { message: error, code, details } = toApiError(thrown);
    const { decision } = details;
    return { email, result: null, error: { error, code, ...(decision === undefined ? {} : { decision }) } };
  }
}

const CHARGE_NOTE = 'With an API key, charged like POST /v1/verify: 1 credit at level mx, 10 at level smtp.';

export const MCP_TOOLS: readonly Tool[] = [
  tool({
    name: 'verify_email',
    title: 'Verify an email address',
    description: `Says whether an email address is good or bad, and why. Level mx checks syntax, domain, mail servers and disposable domains; level smtp also asks the mail server whether the mailbox exists. No mail is sent. ${CHARGE_NOTE}`,
    input: VerifyRequest,
    output: VerifyReply,
    readOnly: true,
    needsAccount: false,
    scope: 'verify',
    call: (backend, input) => backend.verify(input),
  }),
  tool({
    name: 'verify_emails',
    title: 'Verify several email addresses',
    description: `The same for up to ${MCP_EMAILS} addresses, each with a result or an error. ${CHARGE_NOTE}`,
    input: SeveralRequest,
    output: SeveralReply,
    readOnly: true,
    needsAccount: false,
    scope: 'verify',
    call: async (backend, { emails, ...options }) => ({
      results: await mapConcurrently(emails, COMPAT_BATCH_AT_ONCE, (email) =>
        toolResult(backend, { ...options, email }),
      ),
    }),
  }),
  tool({
    name: 'create_list',
    title: 'Verify a list in the background',
    description: 'Begins to verify a list of addresses as one job, and holds its price. get_list shows its progress.',
    input: ListRequest,
    output: ListReply,
    readOnly: false,
    needsAccount: true,
    scope: 'lists',
    call: (backend, input) => requireBackendAccount(backend).createList(input),
  }),
  tool({
    name: 'get_list',
    title: 'Show a list',
    description: 'Status, progress, verdicts by kind and price of a list.',
    input: IdRequest,
    output: ListReply,
    readOnly: true,
    needsAccount: true,
    scope: 'lists',
    call: (backend, { id }) => requireBackendAccount(backend).getList(id),
  }),
  tool({
    name: 'explain_reply',
    title: 'Explain a reply of a mail server',
    description: 'How a reply to RCPT, such as "550 5.1.1 User unknown", is read: what it is about, and by which rule.',
    input: ExplainReplyRequest,
    output: ExplainReplyReply,
    readOnly: true,
    needsAccount: false,
    scope: 'verify',
    call: (backend, input) => backend.explain(input),
  }),
  tool({
    name: 'get_usage',
    title: 'Show usage',
    description: 'Plan, credits, rate limit and totals of the month.',
    input: Type.Object({}),
    output: UsageReply,
    readOnly: true,
    needsAccount: true,
    scope: 'usage',
    call: (backend) => requireBackendAccount(backend).usage(),
  }),
];
