/**
 * Stores the versions of templates. A version is the digest of the template's content, and each content is stored once.
 * It tells which content a tenant's copy was made from.
 */
import { type Call, UpstreamRefusal } from '../../contract/client.js';
import { getDashboardContent } from '../../contract/dashboard-content.js';
import { canonicalJson } from '../../domain/canonical-json.js';
import type { Clock } from '../../domain/ports.js';
import { Refusal } from '../../domain/refusal.js';
import type { Ledger } from '../ledger/ledger.js';
import { type TemplateContent, templateVersionOf } from '../provision/template-version.js';
import type { Capabilities } from '../upstream/capabilities.js';

export type TemplateVersion = {
  readonly template: string;
  /** The result of `templateVersionOf(content)`. */
  readonly version: string;
  readonly content: TemplateContent;
  readonly label: string | null;
};

export type TemplateVersions = {
  /**
   * Reads the template's current content at the service and stores it as a version. A label, if given, becomes this
   * version's name. Throws NOT_FOUND, or NOT_SUPPORTED if the service cannot return content.
   */
  readonly record: (workspace: string, template: string, label?: string) => Promise<TemplateVersion>;
  /** Stores the version that a copy was made from. Call it before a copy's row refers to that version. */
  readonly keep: (version: Omit<TemplateVersion, 'label'>) => Promise<void>;
  readonly find: (template: string, version: string) => Promise<TemplateVersion | undefined>;
  /** Returns the template's versions, newest first. */
  readonly list: (template: string) => Promise<readonly TemplateVersion[]>;
};

export type TemplateVersionsOptions = {
  readonly ledger: Ledger;
  readonly upstream: Call;
  readonly capabilities: Pick<Capabilities, 'requireCapability'>;
  readonly clock: Clock;
};

const readTemplate = async (upstream: Call, workspaceName: string, template: string): Promise<TemplateContent> => {
  try {
    const { data } = await upstream(getDashboardContent, { dashboardId: template, workspaceName });
    const { layout, filters, metrics, gridMargin } = data;
    return { layout, filters, metrics, gridMargin };
  } catch (error) {
    if (!(error instanceof UpstreamRefusal) || error.code !== 'INVALID_DASHBOARD_ID') throw error;
    throw new Refusal(
      'NOT_FOUND',
      `The service has no template dashboard ${JSON.stringify(template)} in workspace ${JSON.stringify(workspaceName)}.`,
      { cause: error },
    );
  }
};

type Row = {
  readonly template: string;
  readonly version: string;
  readonly content: string;
  readonly label: string | null;
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
  const keep = async (
    { template, version, content }: Omit<TemplateVersion, 'label'>,
    label?: string,
  ): Promise<void> => {
    const named = label === undefined ? {} : { label };
    await ledger.db
      .insertInto('template_versions')
      .values({ template, version, content: canonicalJson(content), label: label ?? null, recorded_at: clock.now() })
      // An existing row has the same content. Only its label can be new.
      .onConflict((conflict) => conflict.columns(['template', 'version']).doUpdateSet({ version, ...named }))
      .execute();
  };
  return {
    find,
    // `keepOnce` can skip known versions, since versions are never deleted.
    keep: keepOnce,
    record: async (workspace, template, label) => {
      await capabilities.requireCapability('read-content');
      const content = await readTemplate(upstream, workspace, template);
      const version = templateVersionOf(content);
      await keep({ template, version, content }, label);
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
