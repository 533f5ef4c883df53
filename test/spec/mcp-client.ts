/** The Model Context Protocol's own client, connected with a guest token. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type CallToolResult, CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';

export const connect = async (url: string, bearer: string | null): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1' });
  const headers = bearer === null ? undefined : { authorization: `Bearer ${bearer}` };
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: headers === undefined ? {} : { headers },
  });
  // The two differ only in how they write optional properties.
  await client.connect(transport as Parameters<Client['connect']>[0]);
  return client;
};

export const toolNames = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);

export const callTool = async (
  client: Client,
  name: string,
  given: Readonly<Record<string, unknown>> = {},
): Promise<CallToolResult> => CallToolResultSchema.parse(await client.callTool({ name, arguments: { ...given } }));

/** The text of the only part of a result. */
export const textOf = ({ content }: CallToolResult): string => {
  const [part] = content;
  if (content.length !== 1 || part?.type !== 'text') throw new Error(`no text: ${JSON.stringify(content)}`);
  return part.text;
};
