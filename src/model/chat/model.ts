/** Language models as use cases see them: what is sent, what comes back, and which one a workspace chose. */

/** What a model asks for: a tool by its name, with arguments as JSON text that nothing has checked. */
export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string | null; readonly toolCalls?: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly content: string };

/** `parameters` is a JSON schema. */
export type ModelTool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
};

/** `tokens` counts what was sent and what came back. */
export type ModelReply = {
  readonly text: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly tokens: number;
};

export type Model = {
  readonly name: string;
  /** Whether rows of the guest who asks may be sent to it. */
  readonly allowsRows: boolean;
  /** Throws MODEL_UNAVAILABLE, or MODEL_ANSWER_INVALID for an answer outside the protocol. */
  readonly complete: (
    messages: readonly ModelMessage[],
    tools: readonly ModelTool[],
    signal: AbortSignal,
  ) => Promise<ModelReply>;
};

/** What a workspace says about models. */
export type ModelChoice = {
  readonly llmName?: string | undefined;
  readonly aiCopilotLlms?: readonly string[] | undefined;
};

/**
 * Returns the models that guests of a workspace may ask, the usual one first: `llmName`, then those of `aiCopilotLlms`.
 * spec-gap: a workspace that names none has the model of an installation with exactly one. Names without a configured
 * model are left out.
 */
export const modelsOf = (
  configured: readonly Model[],
  { llmName, aiCopilotLlms = [] }: ModelChoice,
): readonly Model[] => {
  const named = [...new Set([...(llmName === undefined ? [] : [llmName]), ...aiCopilotLlms])];
  if (named.length === 0) return configured.length === 1 ? configured : [];
  return named.flatMap((name) => configured.filter((model) => model.name === name));
};
