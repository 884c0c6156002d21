/** A server of the Model Context Protocol (2025-11-25) on the official SDK, which is loaded with this file alone. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
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
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, title, description, input, output, readOnly }) => ({
      ...{ name, title, description },
      inputSchema: jsonSchemaOf(input),
      outputSchema: jsonSchemaOf(output),
      annotations: { title, readOnlyHint: readOnly, destructiveHint: false, openWorldHint: true },
    })),
  }));
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
      return { content: [textOf(result)], structuredContent: { ...result } };
    } catch (error) {
      if (error instanceof McpError) throw error;
      const apiError = toApiError(error);
      const { message, code, details } = apiError;
      onError(apiError);
      return { isError: true, content: [textOf({ error: message, code, ...details })] };
    }
  });
  return server;
}

const textOf = (value: object) => ({ type: 'text' as const, text: JSON.stringify(value) });

/** One message over streamable HTTP, without a session: nothing is kept between requests. */
export async function answerMessage(server: Server, request: Request, message: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: message });
  } finally {
    await server.close();
  }
}
