/** The tools: each calls one operation of the interface or one command, and has its input. What a tool may read, that decides. */
import { z } from 'zod';
import type { Callable } from '../../platform/http/interface/callable.js';
import type { Operation } from '../../platform/http/interface/operation.js';
import type { listGuestEmbeds } from '../../service/guest/contract/embeds.js';

/** What a reader is told of a tool. */
export type Described = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Whether it only reads. */
  readonly reads: boolean;
  /** Whether it ends or replaces something that its caller cannot bring back. Left out: no. */
  readonly isDestructive?: boolean;
  readonly inputSchema: { readonly type: 'object' } & Readonly<Record<string, unknown>>;
};

type TextPart = { readonly type: 'text'; readonly text: string };
type FilePart = {
  readonly type: 'resource';
  readonly resource: { readonly uri: string; readonly mimeType: string; readonly blob: string };
};
export type ToolResult = { readonly content: (TextPart | FilePart)[]; readonly isError?: true };

export type Tool<What extends Callable = Callable> = Described & { readonly calls: What };

/** The JSON Schema of what a tool takes. Parts that it cannot express take anything: the call checks them. */
const inputSchemaOf = (input: z.ZodType): Described['inputSchema'] => {
  const { $schema: _, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'any',
  });
  return { ...schema, type: 'object' };
};

const toolName = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_');

/** A tool for each that has words for assistants. */
export const toolsOf = <What extends Callable>(all: readonly What[]): readonly Tool<What>[] =>
  all.flatMap((calls) => {
    const { name, input, isChange, tool } = calls;
    if (tool === undefined) return [];
    const { title, description, isDestructive = false } = tool;
    const words = { name: tool.name ?? toolName(name), title, description, isDestructive };
    return [{ ...words, reads: !isChange, inputSchema: inputSchemaOf(input), calls }];
  });

/** The tools of guests' assistants. Written at the first call, to keep the start fast. */
export const guestTools = (operations: Readonly<Record<string, Operation>>): (() => readonly Tool<Operation>[]) => {
  let written: readonly Tool<Operation>[] | undefined;
  return () => {
    written ??= toolsOf(Object.values(operations).filter(({ credentials }) => credentials.includes('guestToken')));
    return written;
  };
};

type Opened = z.output<typeof listGuestEmbeds.output.shape.data>;

/** Returns the tools that a token may call, by the answer of `listGuestEmbeds` with this token. */
export const grantedTools = (tools: readonly Tool<Operation>[], opened: Opened): readonly Tool<Operation>[] => {
  const places = [...opened.dashboards, ...opened.metrics];
  const granted = new Set<string>(places.flatMap(({ operations }) => operations));
  return tools.filter(({ calls: { name, tool } }) => tool?.isForAll === true || granted.has(name));
};
