/** A server of the Model Context Protocol (2025-11-25) on the official SDK, which is loaded with this file alone. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  InitializeRequestSchema,
  type JSONRPCMessage,
  ListToolsRequestSchema,
  McpError,
  PingRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { ApiError, toApiError } from '../../kernel/errors.ts';
import { VERSION } from '../../kernel/version.ts';
import { jsonSchemaOf } from '../openapi.ts';
import { MCP_TOOLS, type McpBackend } from './tools.ts';

const INSTRUCTIONS =
  'Verifies email addresses. A bad address is a result, not an error. `unknown` means that it could not be determined: do not report it as invalid.';

export function createMcpServer(backend: McpBackend, onError: (apiError: ApiError) => void): Server {
  const tools = MCP_TOOLS.filter(({ needsAccount }) => !needsAccount || backend.account !== null);
  const server = new Server(
    { name: 'mailvet', version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(describedOnce) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const found = tools.find(({ name }) => name === params.name);
    try {
      if (found === undefined) {
        await backend.countUnusable('verify');
        const message = `There is no tool ${params.name}.`;
        onError(new ApiError('invalid_parameter', message));
        throw new McpError(ErrorCode.InvalidParams, message);
      }
      const result = await found.call(backend, params.arguments ?? {});
      return { content: [textContent(result)], structuredContent: { ...result } };
    } catch (error) {
      if (error instanceof McpError) throw error;
      const apiError = toApiError(error);
      const { message, code, details } = apiError;
      onError(apiError);
      return { isError: true, content: [textContent({ error: message, code, ...details })] };
    }
  });
  return server;
}

/** Schemas do not change, and a client may ask for the list as often as it likes. */
const DESCRIBED_TOOLS = new Map<McpTool, McpToolDescription>();
function describedOnce(tool: McpTool): McpToolDescription {
  const description = DESCRIBED_TOOLS.get(tool) ?? descriptionOf(tool);
  DESCRIBED_TOOLS.set(tool, description);
  return description;
}

type McpTool = (typeof MCP_TOOLS)[number];
type McpToolDescription = ReturnType<typeof descriptionOf>;
const descriptionOf = ({ name, title, description, input, output, readOnly }: McpTool) => ({
  name,
  title,
  description,
  inputSchema: jsonSchemaOf(input),
  outputSchema: jsonSchemaOf(output),
  annotations: { title, readOnlyHint: readOnly, destructiveHint: false, openWorldHint: true },
});

const textContent = (value: object) => ({ type: 'text' as const, text: JSON.stringify(value) });

/** Requests that the server answers. */
const REQUESTS = new Map(
  Object.entries({
    initialize: InitializeRequestSchema,
    ping: PingRequestSchema,
    'tools/list': ListToolsRequestSchema,
    'tools/call': CallToolRequestSchema,
  }),
);

/** Where a request does not fit its schema; the library would answer with the text of its validator. */
function problemOf(message: JSONRPCMessage): string | null {
  if (!('method' in message)) return null;
  const [issue] = REQUESTS.get(message.method)?.safeParse(message).error?.issues ?? [];
  if (issue === undefined) return null;
  const kind = 'expected' in issue ? (KINDS[issue.expected] ?? null) : null;
  return kind === null ? `${issue.path.join('.')} is not valid.` : `${issue.path.join('.')} must be ${kind}.`;
}
const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** Connects a server whose errors about the form of a request name the field and what it must be. */
export async function connectMcp(server: Server, transport: Transport): Promise<void> {
  await server.connect(transport);
  const take = transport.onmessage;
  const takeChecked: typeof take = (message, extra) => {
    const problem = problemOf(message);
    if (problem === null || !('id' in message)) return take?.(message, extra);
    const error = { code: ErrorCode.InvalidParams, message: problem };
    void refuse(server, transport, { jsonrpc: '2.0', id: message.id, error });
  };
  transport.onmessage = takeChecked;
}

async function refuse(server: Server, transport: Transport, error: JSONRPCMessage): Promise<void> {
  try {
    await transport.send(error);
  } catch (cause) {
    if (cause instanceof Error) server.onerror?.(cause);
  }
}

/** One message over streamable HTTP, without a session: nothing is kept between requests. */
export async function answerMessage(server: Server, request: Request, message: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await connectMcp(server, transport);
  try {
    return await transport.handleRequest(request, { parsedBody: message });
  } finally {
    await server.close();
  }
}
