/** Whom a guest may ask in words. The operation, and the page that offers it, ask the same functions. */
import type { Assistant } from '../../model/chat/assistant.js';
import { type Model, modelsOf } from '../../model/chat/model.js';
import { assertChats } from '../../model/guest/access.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import type { GuestDashboard } from '../../model/guest/view.js';
import { passes, Refusal } from '../../model/refusal.js';
import type { Opened } from '../embeds/lookup.js';
import type { ContentStore } from '../store/content.js';

export type ChatDeps = { readonly assistant: Pick<Assistant, 'models'> };

/** Throws MODEL_NOT_CONFIGURED, or INVALID_REQUEST_BODY for a model that is not the workspace's. */
export const chooseModel = async (
  deps: ChatDeps,
  content: ContentStore,
  opened: Opened,
  wanted: string | undefined,
): Promise<Model> => {
  const workspace = await content.workspaces.findById(opened.dashboard.workspaceId);
  const models = modelsOf(deps.assistant.models, workspace ?? {});
  const [usual] = models;
  if (usual === undefined) {
    throw new Refusal(
      'MODEL_NOT_CONFIGURED',
      'No language model is configured for this workspace: `models` of the configuration has none that its llmName or aiCopilotLlms names.',
    );
  }
  if (wanted === undefined) return usual;
  const model = models.find(({ name }) => name === wanted);
  if (model !== undefined) return model;
  throw new Refusal('INVALID_REQUEST_BODY', 'llmName: expected one of `chat.llmNames` of the dashboard.');
};

/** What the guest's page offers. Undefined: this guest may not ask, or there is no model. */
export const chatOffer = async (
  deps: ChatDeps,
  content: ContentStore,
  { grant }: GuestCaller,
  opened: Opened,
): Promise<GuestDashboard['chat']> => {
  if (!passes(() => assertChats(grant, opened.embed))) return undefined;
  const workspace = await content.workspaces.findById(opened.dashboard.workspaceId);
  const llmNames = modelsOf(deps.assistant.models, workspace ?? {}).map(({ name }) => name);
  const hasSuggestions = workspace?.isEnableMetricSuggestions === true;
  return llmNames.length === 0 ? undefined : { llmNames, hasSuggestions };
};
