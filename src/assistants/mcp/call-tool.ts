/** Calls the operation of a tool as its HTTP request would, and writes the answer as the result of the tool. */
import type { z } from 'zod';
import { isRecord } from '../../model/is-record.js';
import { writtenRows } from '../../model/query/numbers.js';
import type { Binding, Operation } from '../../platform/http/interface/operation.js';
import {
  type Dispatch,
  type DispatchRequest,
  type DispatchResponse,
  firstLanguage,
} from '../../platform/http/wire/bind.js';
import { envelope } from '../../platform/http/wire/envelope.js';
import { findFaults, findShapeFault, writeFaults } from '../../platform/http/wire/faults.js';
import { isPieces, jsonText } from '../../platform/http/wire/json-text.js';
import { metricAnswer } from '../../service/metrics/contract.js';
import type { Tool, ToolResult } from './tools.js';

export type Called = { readonly result: ToolResult; readonly answer: DispatchResponse | null };

/** The most bytes of a file in an answer. JSON-RPC holds an answer in memory as a whole. */
const mostBytes = 5_000_000;

export const textResult = (text: string): ToolResult => ({ content: [{ type: 'text', text }] });

const failed = (code: 'INVALID_REQUEST_BODY' | 'METRIC_QUERY_ERROR', message: string): ToolResult => ({
  ...textResult(JSON.stringify(envelope(code, message, 400))),
  isError: true,
});

/** Returns null if the file is larger than an answer may be. The source is then ended. */
const collect = async (pieces: AsyncIterable<string | Uint8Array>): Promise<Buffer | null> => {
  const collected: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece, 'utf8') : Buffer.from(piece);
    size += bytes.byteLength;
    if (size > mostBytes) return null;
    collected.push(bytes);
  }
  return Buffer.concat(collected);
};

const fileResult = async ({ body, contentType }: DispatchResponse, { name }: Tool<Operation>): Promise<ToolResult> => {
  const file = isPieces(body) ? await collect(body) : Buffer.from(String(body), 'utf8');
  if (file === null) {
    return failed(
      'METRIC_QUERY_ERROR',
      `The file is larger than ${mostBytes} bytes, the most that a tool answers. Ask for fewer rows with limit.`,
    );
  }
  if (contentType.startsWith('text/')) return textResult(file.toString('utf8'));
  const resource = { uri: `guestlist:${name}`, mimeType: contentType, blob: file.toString('base64') };
  return { content: [{ type: 'resource', resource }] };
};

/** What an answer with rows has, among other things. */
const answerOfRows = metricAnswer.pick({ data: true, metaData: true });

/** The answer, beside its rows with the numbers as the user's cards write them, where their columns have a format. */
const withWritten = (body: unknown, language = 'en'): unknown => {
  const found = answerOfRows.safeParse(body);
  if (!found.success || !isRecord(body)) return body;
  const { data, metaData } = found.data;
  return { ...body, written: writtenRows(data, metaData.columns, language) };
};

const resultOf = async (
  answer: DispatchResponse,
  tool: Tool<Operation>,
  acceptLanguage: string | undefined,
): Promise<ToolResult> => {
  if (answer.status !== 200) return { ...textResult(JSON.stringify(answer.body)), isError: true };
  if (!answer.contentType.startsWith('application/json')) return fileResult(answer, tool);
  return textResult(await jsonText(withWritten(answer.body, firstLanguage(acceptLanguage))));
};

type Arguments = Readonly<Record<string, unknown>>;

/** Returns what is wrong with the arguments, by the schema of the tool. */
export const argumentFaults = (input: z.ZodType, given: Arguments): string | undefined => {
  const { fault, values } = findShapeFault(given, 'arguments');
  if (fault !== undefined) return writeFaults([fault]);
  const found = findFaults(input, given, { root: 'arguments', values });
  return 'faults' in found ? writeFaults(found.faults) : undefined;
};

/** Writes the arguments as the request of the binding. They were checked: those of the path are text. */
export const requestFor = ({ method, path, from }: Binding<unknown, unknown>, { language, ...given }: Arguments) => {
  const inPath = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name));
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !inPath.has(name)));
  return {
    method,
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given[name]))),
    query: from === 'query' ? rest : {},
    ...(from === 'body' ? { body: rest } : {}),
    ...(typeof language === 'string' ? { acceptLanguage: language } : {}),
  };
};

/** Who asks: everything of the HTTP request but what it asks. Nothing of it comes from the arguments. */
export type Asker = Pick<DispatchRequest, 'authorization' | 'acceptLanguage' | 'sender' | 'requestId' | 'signal'>;

/** Calls the tool with the credential, the limits and the log of the request that `asker` describes. */
export const callTool = async (
  dispatch: Dispatch,
  asker: Asker,
  tool: Tool<Operation>,
  given: unknown,
): Promise<Called> => {
  const [binding] = tool.calls.bindings;
  if (binding === undefined) throw new Error(`${tool.calls.name} has no binding`);
  const values = given === undefined ? {} : given;
  if (!isRecord(values)) throw new Error('the protocol allows only an object as arguments');
  const fault = argumentFaults(tool.calls.input, values);
  if (fault !== undefined) return { result: failed('INVALID_REQUEST_BODY', fault), answer: null };
  const answer = await dispatch({ ...asker, ...requestFor(binding, values) });
  if (answer === undefined) throw new Error(`nothing serves ${tool.calls.name}`);
  const { acceptLanguage = asker.acceptLanguage } = requestFor(binding, values);
  return { result: await resultOf(answer, tool, acceptLanguage), answer };
};
