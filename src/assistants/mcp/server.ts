/**
 * Answers one message of the Model Context Protocol with the official server, which keeps nothing between requests. It is
 * loaded at the first message: it takes 0.2 seconds and 24 MB, which nobody should pay who does not use it.
 */
import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/sdk/types.js';
import type { Described, ToolResult } from './tools.js';

const load = async () => {
  const [{ Server }, { WebStandardStreamableHTTPServerTransport: Transport }, types, { AjvJsonSchemaValidator }] =
    await Promise.all([
      import('@modelcontextprotocol/sdk/server/index.js'),
      import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
      import('@modelcontextprotocol/sdk/types.js'),
      import('@modelcontextprotocol/sdk/validation/ajv'),
    ]);
  return { Server, Transport, types, validator: new AjvJsonSchemaValidator() };
};
let loading: ReturnType<typeof load> | undefined;

const describe = (tool: Described): ListToolsResult['tools'][number] => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: tool.inputSchema as ListToolsResult['tools'][number]['inputSchema'],
  annotations: { readOnlyHint: tool.reads, destructiveHint: tool.isDestructive === true, openWorldHint: false },
});

export type Message<Tool extends Described> = {
  readonly version: string;
  /** What the reader is told about all answers. */
  readonly instructions: string;
  /** Only these exist for the sender. */
  readonly tools: readonly Tool[];
  readonly call: (tool: Tool, given: unknown) => Promise<ToolResult>;
  /** The headers that the protocol reads. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON of one message. */
  readonly body: unknown;
};

/** Returns the HTTP answer to the message. */
export const answerMessage = async <Tool extends Described>(message: Message<Tool>): Promise<Response> => {
  const { version, instructions, tools, call, headers, body } = message;
  loading ??= load();
  const { Server, Transport, types, validator } = await loading;
  const server = new Server(
    { name: 'guestlist', version },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator: validator },
  );
  server.setRequestHandler(types.ListToolsRequestSchema, async () => ({ tools: tools.map(describe) }));
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const tool = tools.find(({ name }) => name === params.name);
    // The same answer for a tool that is not granted and one that nobody has.
    if (tool === undefined) throw new types.McpError(types.ErrorCode.InvalidParams, 'Unknown tool');
    return { ...(await call(tool, params.arguments)) };
  });
  const transport = new Transport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    const request = new Request('http://localhost/mcp', { method: 'POST', headers });
    return await transport.handleRequest(request, { parsedBody: body });
  } finally {
    await server.close();
  }
};
