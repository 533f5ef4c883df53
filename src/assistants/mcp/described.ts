/** What every tool tells its reader, and what a call of it answers. */
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
