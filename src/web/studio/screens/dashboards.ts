/** The templates of all workspaces, and new ones. */
import { html, type TemplateResult } from 'lit';
import { hasRole } from '../base/api.js';
import { listTemplates, type Template } from '../base/content.js';
import { type Column, filled, link, list } from '../base/kit.js';
import { addressOf, navigate } from '../base/routes.js';
import { Screen } from '../base/screen.js';

type Data = { readonly templates: readonly Template[]; readonly workspaces: readonly string[] };

class DashboardsScreen extends Screen<Data> {
  protected override async load(signal: AbortSignal): Promise<Data> {
    const [templates, { data }] = await Promise.all([
      listTemplates(this.api, signal),
      this.api.call('listWorkspaces', {}, signal),
    ]);
    return { templates, workspaces: data.map(({ name }) => name) };
  }

  readonly #columns: readonly Column<Template>[] = [
    {
      title: 'Dashboard',
      of: ({ dashboardId, name, workspaceName }) =>
        link(addressOf('dashboards', [dashboardId], { workspace: workspaceName }), name),
      text: ({ name }) => name,
    },
    { title: 'Id', of: ({ dashboardId }) => html`<code>${dashboardId}</code>`, text: ({ dashboardId }) => dashboardId },
    { title: 'Workspace', of: ({ workspaceName }) => workspaceName },
  ];

  protected override content({ templates, workspaces }: Data): TemplateResult {
    const mayBuild = hasRole(this.api.session, 'author') && workspaces.length > 0;
    const actions = mayBuild
      ? html`<button type="button" @click=${() => void this.#create(workspaces)}>New dashboard</button>`
      : html``;
    const empty =
      workspaces.length === 0
        ? 'Describe a database under Models first.'
        : 'Each tenant gets a copy of a dashboard that the policy grants.';
    return html`<div class="head">
        <h1>Dashboards</h1>
        <p>Templates: each tenant gets a copy of those that the policy grants.</p>
      </div>
      ${list({
        name: 'dashboards',
        rows: templates,
        columns: this.#columns,
        query: this.place.query,
        empty: html`<h2>No dashboards yet</h2><p>${empty}</p>`,
        actions,
      })}`;
  }

  async #create(workspaces: readonly string[]): Promise<void> {
    const form = await filled(
      'New dashboard',
      html`<label>Name <input name="name" required maxlength="120" autocomplete="off" /></label>
        <label>Id <span class="hint">the policy names it; small letters, digits and -</span>
          <input name="id" required pattern="[a-z0-9]+(-[a-z0-9]+)*" maxlength="60" autocomplete="off" />
        </label>
        <label>Workspace
          <select name="workspace">${workspaces.map((name) => html`<option>${name}</option>`)}</select>
        </label>`,
      'Create',
    );
    if (form === null) return;
    const text = (field: string): string => String(form.get(field) ?? '').trim();
    const [dashboardName, dashboardId, workspaceName] = [text('name'), text('id'), text('workspace')] as const;
    const isMade = await this.act(async () => {
      const importDashboardData = { version: 3, layout: [], filters: [], metrics: [], gridMargin: [8, 8] };
      await this.api.call('importDashboard', { workspaceName, dashboardName, dashboardId, importDashboardData });
      return null;
    });
    if (isMade) navigate(addressOf('dashboards', [dashboardId], { workspace: workspaceName }));
  }
}

customElements.define('studio-dashboards', DashboardsScreen);
