/** Whose rows the tables of a model hold, as a list: the same as the diagram, for screen readers and narrow screens. */
import { html, nothing, type TemplateResult } from 'lit';
import { type Api, hasRole } from '../base/api.js';
import { badge } from '../base/kit.js';
import { stateOf, type TableTenancy, toneOf, whose } from '../base/model-tenancy.js';
import './sample-rows.js';

/** Rows are shown to those who build and may see data of tenants. */
const showsRows = ({ session }: Api): boolean => session.person.seesData && hasRole(session, 'author');

const redText = (count: number): string =>
  `${count === 1 ? 'One table has' : `${count} tables have`} rows that belong to nobody. No query reads them until you say whose they are, and no template that reads them is rolled out.`;

/** Says that tables are nobody's. Nothing where each table has an owner. */
export const redNotice = (tenancies: readonly TableTenancy[]): TemplateResult | typeof nothing => {
  const bad = tenancies.filter(({ kind }) => kind === 'unreadable').length;
  return bad === 0 ? nothing : html`<p class="notice bad" role="alert">${redText(bad)}</p>`;
};

export const tenancyList = (tenancies: readonly TableTenancy[], api: Api): TemplateResult => {
  const rows = showsRows(api);
  return html`<div class="table" tabindex="0" role="group" aria-label="Whose rows the tables hold"><table>
      <thead><tr><th scope="col">Table</th><th scope="col">State</th><th scope="col">Whose rows are these?</th>${rows ? html`<th scope="col">Sample</th>` : nothing}</tr></thead>
      <tbody>${tenancies.map(
        (tenancy) => html`<tr>
          <td><code>${tenancy.table}</code></td><td>${badge(stateOf(tenancy), toneOf[stateOf(tenancy)])}</td><td>${whose(tenancy)}</td>
          ${rows ? html`<td><studio-sample-rows .api=${api} table=${tenancy.table}></studio-sample-rows></td>` : nothing}
        </tr>`,
      )}</tbody>
    </table></div>`;
};
