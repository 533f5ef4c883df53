/** The editions of a template: who changed it when, what changed in words, and which roll-outs and copies have each. */
import { z } from 'zod';
import { contentChanges } from '../../model/dashboard/changes.js';
import { Refusal } from '../../model/refusal.js';
import type { Policy } from '../policy/policy.js';
import { withoutSettings } from '../provision/template-version.js';
import type { RolloutLedger } from './model.js';
import type { TemplateVersion, TemplateVersions } from './template-versions.js';

export type EditionDeps = {
  readonly versions: TemplateVersions;
  readonly ledger: Pick<RolloutLedger, 'list' | 'countByVersion' | 'findPublished'>;
};

const rollout = z.object({
  id: z.string(),
  state: z.string(),
  startedBy: z.string().nullable(),
  startedAt: z.string(),
});

export const templateHistory = z.object({
  template: z.string(),
  editions: z.array(
    z.object({
      number: z.number(),
      version: z.string(),
      label: z.string().nullable(),
      by: z.string().nullable(),
      at: z.string(),
      changes: z.array(z.string()),
      copies: z.number(),
      rollouts: z.array(rollout),
    }),
  ),
  hasMore: z.boolean(),
  /** The version that new tenants get. Null: the current content, since nothing was rolled out to all tenants. */
  newCopies: z.string().nullable(),
  /** The version that new tenants get, or that most copies have. Null: no version is known. */
  published: z.string().nullable(),
  /** What a roll-out would bring to those copies, in words. */
  unpublished: z.array(z.string()),
});

/** Reads the template's current content and keeps it. Throws NOT_FOUND for a template that the policy does not name. */
export const recordTemplate = (
  { versions }: Pick<EditionDeps, 'versions'>,
  policy: Policy,
  template: string,
  by: string | null = null,
): Promise<TemplateVersion> => {
  if (policy.templates.has(template)) return versions.record(policy, template, { by });
  throw new Refusal('NOT_FOUND', `The policy has no template ${JSON.stringify(template)}.`);
};

const changesOf = (before: TemplateVersion | undefined, after: TemplateVersion | undefined): readonly string[] =>
  before === undefined || after === undefined
    ? []
    : contentChanges(before.content, after.content).map(({ text }) => text);

/** Returns the newest editions, newest first. The first is the template's current content, published or not. */
export const listEditions = async (
  deps: EditionDeps,
  policy: Policy,
  { template, limit }: { readonly template: string; readonly limit: number },
) => {
  const { versions, ledger } = deps;
  await recordTemplate(deps, policy, template);
  // One more than wanted: the last one's changes are those from the edition before it.
  const editions = await versions.editions(template, limit + 1);
  const contents = new Map((await versions.list(template)).map((one) => [one.version, one]));
  const rollouts = (await ledger.list()).filter((one) => one.template === template);
  const copies = await ledger.countByVersion(template);
  const newCopies = (await ledger.findPublished(template)) ?? null;
  const shown = editions.slice(0, limit).map(({ number, version, at, by, label }, index) => {
    const before = editions[index + 1];
    const own = rollouts.filter((one) => one.version === version);
    return {
      ...{ number, version, label, by },
      at: at.toISOString(),
      changes: before === undefined ? [] : changesOf(contents.get(before.version), contents.get(version)),
      copies: copies.get(version) ?? 0,
      rollouts: own.map(({ id, state, startedBy, startedAt }) => ({
        ...{ id, state, startedBy },
        startedAt: startedAt.toISOString(),
      })),
    };
  });
  const published = newCopies ?? mostCopied(copies);
  const hasMore = editions.length > limit;
  return { template, editions: shown, hasMore, newCopies, ...unpublished(contents, shown[0], published) };
};

const mostCopied = (copies: ReadonlyMap<string | null, number>): string | undefined => {
  const known = [...copies].filter((entry): entry is [string, number] => entry[0] !== null);
  return known.toSorted(([, one], [, other]) => other - one)[0]?.[0];
};

/**
 * Compares the current content with the published version, or the one that most copies have: what a roll-out would
 * bring to them, in words. `published` is null if no version is known.
 */
const unpublished = (
  contents: ReadonlyMap<string, TemplateVersion>,
  current: { readonly version: string } | undefined,
  published: string | undefined,
) => {
  if (published === undefined || current === undefined) return { published: null, unpublished: [] };
  return { published, unpublished: changesOf(contents.get(published), contents.get(current.version)) };
};

/** Returns one version's content, for a restore, without the settings of the policy. Throws NOT_FOUND. */
export const findVersion = async (
  { versions }: Pick<EditionDeps, 'versions'>,
  { template, version }: { readonly template: string; readonly version: string },
): Promise<TemplateVersion> => {
  const found = await versions.find(template, version);
  if (found !== undefined) return { ...found, content: withoutSettings(found.content) };
  const message = `Template ${JSON.stringify(template)} has no version ${version}. template-history lists those that it had.`;
  throw new Refusal('NOT_FOUND', message);
};
