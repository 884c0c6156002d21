import type { Command } from 'commander';
import { Compile } from 'typebox/compile';
import { createMailvet, MailvetError } from '../../sdk/src/index.ts';
import type { Options } from '../config/read.ts';
import { DecisionField } from '../contract/policies.ts';
import type { McpBackend } from '../http/mcp/tools.ts';
import { ApiError, isErrorCode, messageOf } from '../kernel/errors.ts';
import { TIMEOUT_MS } from '../kernel/facts/limits.ts';
import { DEFAULT_LEVEL } from '../kernel/facts/plans.ts';
import { builtInPolicy, type Decision, decide, decideOutage } from '../kernel/facts/policies.ts';
import { command, optionsFrom } from './command.ts';
import { NO_VERDICT } from './no-verdict.ts';
import { onlyBuiltIn } from './policy.ts';
import { explainServerError } from './server-error.ts';

/** It serves the Model Context Protocol on standard input and output, which therefore print nothing else. */
export const mcpCommand = (): Command =>
  command(
    'mcp',
    'Serve tools to assistants over standard input and output (Model Context Protocol): with MAILVET_KEY those of the service at MAILVET_URL, otherwise those of a built-in engine.',
  ).action(async (flags: object) => {
    const options = optionsFrom(flags, 'mcp');
    const { url, key } = options;
    const [
      { StdioServerTransport },
      { connectMcp, createMcpServer },
      { explanationOf },
      { createReplyExplainer },
      { loadDomainData },
    ] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/stdio.js'),
      import('../http/mcp/server.ts'),
      import('../http/dashboard/replies.ts'),
      import('../service/replies.ts'),
      import('../engine/data/domain-data.ts'),
    ]);
    const explained = createReplyExplainer(loadDomainData);
    const explain: McpBackend['explain'] = async (input) => explanationOf(explained, input);
    const backend = key === null ? await localBackend(options, explain) : remoteBackend(url, key, explain);
    const server = createMcpServer(backend, ({ status, cause }) => {
      if (status === 500) process.stderr.write(`mailvet: ${String(cause)}\n`);
    });
    const closed = new Promise<void>((resolve) => {
      server.onclose = resolve;
      process.stdin.once('end', resolve);
    });
    await connectMcp(server, new StdioServerTransport());
    await closed;
    backend.close?.();
  });

type Backend = McpBackend & { readonly close?: () => void };

async function localBackend(options: Options, explain: McpBackend['explain']): Promise<Backend> {
  const { verifierFrom } = await import('./engine.ts');
  const verifier = await verifierFrom(options);
  return {
    async verify({ email, validation_type, timeout_ms, scope, policy: name, language = null }) {
      if (scope !== undefined)
        throw new ApiError('seen_disabled', 'Only a service remembers mailboxes: set MAILVET_URL and MAILVET_KEY.');
      const policy = name === undefined ? null : builtInPolicy(name);
      if (name !== undefined && policy === null) throw new ApiError('policy_not_found', onlyBuiltIn(name));
      const options = {
        level: validation_type ?? policy?.level ?? DEFAULT_LEVEL,
        timeoutMs: timeout_ms ?? policy?.timeoutMs ?? TIMEOUT_MS.default,
      };
      const result = await verifier.verify(email, options).catch((error: unknown) => {
        if (!(error instanceof Error) || error.name !== 'VerificationUnavailableError') throw error;
        const decision = policy && decideOutage(policy, language);
        throw new ApiError(NO_VERDICT, messageOf(error), decision === null ? {} : { decision });
      });
      return { ...result, decision: policy && decide(policy, result, language) };
    },
    explain,
    countUnusable: async () => undefined,
    account: null,
    close: () => verifier.close(),
  };
}

function remoteBackend(url: string, key: string, explain: McpBackend['explain']): Backend {
  const mailvet = createMailvet({ url, key });
  // An error of the service is one of the tool.
  const rethrow = (error: unknown): never => {
    if (!(error instanceof MailvetError)) throw error;
    const { decision } = error.details;
    const code = isErrorCode(error.code) ? error.code : NO_VERDICT;
    throw new ApiError(code, explainServerError(error, url), isDecision(decision) ? { decision } : {});
  };
  return {
    verify: (input) => mailvet.verify(input).catch(rethrow),
    explain,
    countUnusable: async () => undefined,
    account: {
      createList: ({ emails, ...options }) => mailvet.lists.create(emails, options).catch(rethrow),
      getList: (id) => mailvet.lists.get(id).catch(rethrow),
      usage: () => mailvet.usage().catch(rethrow),
    },
  };
}

const decisionSchema = Compile(DecisionField);
const isDecision = (sent: unknown): sent is Decision => decisionSchema.Check(sent);
