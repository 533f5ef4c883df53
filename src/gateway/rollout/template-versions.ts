/**
 * Stores the versions of templates. A version is the digest of the template's content, and each content is stored once.
 * It tells which content a tenant's copy was made from. Editions are the order in which a template had its versions.
 */
import { type Selectable, sql } from 'kysely';
import { canonicalJson } from '../../model/canonical-json.js';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { type Call, UpstreamRefusal } from '../../platform/http/interface/client.js';
import { getDashboardContent } from '../../service/dashboards/contract/content.js';
import type { Ledger, LedgerTables } from '../ledger/ledger.js';
import type { Policy } from '../policy/policy.js';
import {
  settingsFor,
  type TemplateContent,
  templateVersionOf,
  tilesIn,
  withoutSettings,
} from '../provision/template-version.js';
import type { Capabilities } from '../upstream/capabilities.js';

export type TemplateVersion = {
  readonly template: string;
  /** The result of `templateVersionOf(content)`. */
  readonly version: string;
  readonly content: TemplateContent;
  readonly label: string | null;
};

/** One change of a template. */
export type TemplateEdition = {
  readonly number: number;
  readonly version: string;
  readonly at: Date;
  /** Null: unknown. */
  readonly by: string | null;
  readonly label: string | null;
};

/** What is known of a template's current content besides the content. */
export type Recorded = { readonly label?: string | undefined; readonly by?: string | null };

/** What a version takes from the policy. */
export type TemplatePolicy = Pick<Policy, 'workspace' | 'templates'>;

export type TemplateVersions = {
  /**
   * Reads the template's current content at the service and stores it, with the settings of the policy, as a version,
   * and as an edition if the template had another version before. A label, if given, becomes this version's name. Throws NOT_FOUND, or NOT_SUPPORTED if
   * the service cannot return content.
   */
  readonly record: (policy: TemplatePolicy, template: string, recorded?: Recorded) => Promise<TemplateVersion>;
  /** Returns the template's newest editions, newest first. */
  readonly editions: (template: string, limit: number) => Promise<readonly TemplateEdition[]>;
  /** Stores the version that a copy was made from. Call it before a copy's row refers to that version. */
  readonly keep: (version: Omit<TemplateVersion, 'label'>) => Promise<void>;
  readonly find: (template: string, version: string) => Promise<TemplateVersion | undefined>;
  /** Returns the template's versions, newest first. */
  readonly list: (template: string) => Promise<readonly TemplateVersion[]>;
};

export type TemplateVersionsOptions = {
  readonly ledger: Ledger;
  readonly upstream: Call;
  readonly capabilities: Pick<Capabilities, 'requireCapability' | 'supports'>;
  readonly clock: Clock;
};

const readTemplate = async (upstream: Call, workspaceName: string, template: string): Promise<TemplateContent> => {
  try {
    const { data } = await upstream(getDashboardContent, { dashboardId: template, workspaceName });
    const { layout, filters, metrics, gridMargin, tiles } = data;
    return { layout, filters, metrics, gridMargin, ...tilesIn(tiles) };
  } catch (error) {
    if (!(error instanceof UpstreamRefusal) || error.code !== 'INVALID_DASHBOARD_ID') throw error;
    throw new Refusal(
      'NOT_FOUND',
      `The service has no template dashboard ${JSON.stringify(template)} in workspace ${JSON.stringify(workspaceName)}.`,
      { cause: error },
    );
  }
};

/** Undefined if the service cannot replace settings: copies keep theirs then. */
const readSettings = async (
  { capabilities }: Pick<TemplateVersionsOptions, 'capabilities'>,
  { templates }: TemplatePolicy,
  template: string,
): Promise<Pick<TemplateContent, 'settings'>> => {
  const entry = templates.get(template);
  if (entry === undefined || !(await capabilities.supports('copy-settings'))) return {};
  return { settings: settingsFor(entry, await capabilities.supports('guest-boards')) };
};

type Row = {
  readonly template: string;
  readonly version: string;
  readonly content: string;
  readonly label: string | null;
};

type NewEdition = Omit<Selectable<LedgerTables['template_editions']>, 'number'>;

/** The editions of a template that has none: its known versions in their order, and then the new one. */
const firstEditions = async (db: Ledger['db'], edition: NewEdition): Promise<readonly NewEdition[]> => {
  const { template, version } = edition;
  const earlier = await db
    .selectFrom('template_versions')
    .select(['template', 'version', 'recorded_at as at'])
    .where('template', '=', template)
    .where('version', '<>', version)
    .orderBy('recorded_at')
    .orderBy('version')
    .execute();
  return [...earlier.map((one) => ({ ...one, made_by: null })), edition];
};

/**
 * Adds an edition unless the newest one has this version. One that nobody has claimed yet becomes `made_by`'s. The lock
 * makes simultaneous calls wait for each other.
 */
const addEdition = ({ db }: Pick<Ledger, 'db'>, edition: NewEdition): Promise<void> =>
  db.transaction().execute(async (inner) => {
    const { template, version, made_by } = edition;
    await sql`select pg_advisory_xact_lock(hashtext(${`edition/${template}`}))`.execute(inner);
    const newest = await inner
      .selectFrom('template_editions')
      .select(['number', 'version', 'made_by'])
      .where('template', '=', template)
      .orderBy('number', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (newest?.version !== version) {
      const added = newest === undefined ? await firstEditions(inner, edition) : [edition];
      const rows = added.map((one, index) => ({ ...one, number: (newest?.number ?? 0) + 1 + index }));
      await inner.insertInto('template_editions').values(rows).execute();
    } else if (newest.made_by === null && made_by !== null) {
      const own = inner.updateTable('template_editions').where('template', '=', template);
      await own.where('number', '=', newest.number).set({ made_by }).execute();
    }
  });

const listEditions = (db: Ledger['db'], template: string, limit: number): Promise<readonly TemplateEdition[]> =>
  db
    .selectFrom('template_editions as edition')
    .innerJoin('template_versions as known', (join) =>
      join.onRef('known.template', '=', 'edition.template').onRef('known.version', '=', 'edition.version'),
    )
    .select(['edition.number', 'edition.version', 'edition.at', 'edition.made_by as by', 'known.label'])
    .where('edition.template', '=', template)
    .orderBy('edition.number', 'desc')
    .limit(limit)
    .execute();

const rowOf = ({ template, version, content }: Omit<TemplateVersion, 'label'>) => {
  const content_version = content.settings === undefined ? null : templateVersionOf(withoutSettings(content));
  return { template, version, content: canonicalJson(content), content_version };
};

const decode = ({ content, ...row }: Row): TemplateVersion => ({ ...row, content: JSON.parse(content) });

export const createTemplateVersions = ({
  ledger,
  upstream,
  capabilities,
  clock,
}: TemplateVersionsOptions): TemplateVersions => {
  const rows = ledger.db.selectFrom('template_versions').select(['template', 'version', 'content', 'label']);
  const find: TemplateVersions['find'] = async (template, version) => {
    const row = await rows.where('template', '=', template).where('version', '=', version).executeTakeFirst();
    return row && decode(row);
  };
  const kept = new Set<string>();
  const keepOnce: TemplateVersions['keep'] = async (version) => {
    const key = JSON.stringify([version.template, version.version]);
    if (kept.has(key)) return;
    await keep(version);
    kept.add(key);
  };
  const keep = async (made: Omit<TemplateVersion, 'label'>, label?: string): Promise<void> => {
    const { version } = made;
    const named = label === undefined ? {} : { label };
    await ledger.db
      .insertInto('template_versions')
      .values({ ...rowOf(made), label: label ?? null, recorded_at: clock.now() })
      // An existing row has the same content. Only its label can be new.
      .onConflict((conflict) => conflict.columns(['template', 'version']).doUpdateSet({ version, ...named }))
      .execute();
  };
  return {
    find,
    // `keepOnce` can skip known versions, since versions are never deleted.
    keep: keepOnce,
    editions: (template, limit) => listEditions(ledger.db, template, limit),
    record: async (policy, template, { label, by = null } = {}) => {
      await capabilities.requireCapability('read-content');
      const board = await readTemplate(upstream, policy.workspace, template);
      const content = { ...board, ...(await readSettings({ capabilities }, policy, template)) };
      const version = templateVersionOf(content);
      await keep({ template, version, content }, label);
      await addEdition(ledger, { template, version, at: clock.now(), made_by: by });
      const kept = await find(template, version);
      if (kept === undefined) throw new Error(`version ${version} of template ${template} was not kept`);
      return kept;
    },
    list: async (template) =>
      (await rows.where('template', '=', template).orderBy('recorded_at', 'desc').orderBy('version').execute()).map(
        decode,
      ),
  };
};
