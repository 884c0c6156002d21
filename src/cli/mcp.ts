import type { Command } from 'commander';
import { createMailvet, MailvetError } from '../../sdk/src/index.ts';
import type { Options } from '../config/read.ts';
import type { McpBackend } from '../http/mcp/tools.ts';
import { ApiError, ERROR_CODES, type ErrorCode, messageOf } from '../kernel/errors.ts';
import { command, optionsFrom } from './command.ts';
import { NO_VERDICT } from './no-verdict.ts';
import { explainServerError } from './server-error.ts';

/** A server of the Model Context Protocol on standard input and output, which therefore print nothing else. */
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
    verify: async ({ email, validation_type: level, timeout_ms, scope }) => {
      if (scope !== undefined)
        throw new ApiError('seen_disabled', 'Only a service remembers mailboxes: set MAILVET_URL and MAILVET_KEY.');
      return (
        verifier
          .verify(email, { level, ...(timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }) })
          // Only an account has policies.
          .then((result) => ({ ...result, decision: null }))
          .catch((error: unknown) => {
            if (!(error instanceof Error) || error.name !== 'VerificationUnavailableError') throw error;
            throw new ApiError(NO_VERDICT, messageOf(error));
          })
      );
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
    throw new ApiError(isCode(error.code) ? error.code : NO_VERDICT, explainServerError(error, url));
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

const isCode = (code: unknown): code is ErrorCode => ERROR_CODES.some((known) => known === code);
