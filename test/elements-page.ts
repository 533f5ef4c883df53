/** Returns the text of docs/reference/elements.md from the manifest of the elements; `npm run docs` writes the file. */

type Named = { readonly name: string; readonly description?: string };
type Attribute = Named & { readonly fieldName: string; readonly type: { readonly text: string } };
type Typed = { readonly type: { readonly text: string } };
type Field = Named & Typed & { readonly kind: 'field'; readonly attribute?: string };
type Parameter = Typed & { readonly name: string; readonly optional?: boolean };
type Method = Named & { readonly kind: 'method'; readonly parameters: readonly Parameter[]; readonly return: Typed };
type Declaration = Named & {
  readonly tagName: string;
  readonly attributes: readonly Attribute[];
  readonly members: readonly (Field | Method)[];
  readonly events: readonly Named[];
  readonly slots?: readonly Named[];
};
export type Manifest = { readonly modules: readonly { readonly declarations: readonly Declaration[] }[] };

const cell = (text: string): string => text.replaceAll('|', '\\|');

const chapterOf = ({ tagName, description = '', attributes, members, events, slots = [] }: Declaration): string => {
  const rows = members
    .filter((member) => member.kind === 'field')
    .map(({ name, type, attribute, description: own = '' }) => {
      const { description: meaning = own } = attributes.find(({ fieldName }) => fieldName === name) ?? {};
      const shown = attribute === undefined ? '' : `\`${attribute}\``;
      return `| ${shown} | \`${name}\` | \`${cell(type.text)}\` | ${cell(meaning)} |`;
    });
  const called = members
    .filter((member) => member.kind === 'method')
    .map(({ name, parameters, return: { type }, description: meaning = '' }) => {
      const given = parameters.map((each) => `${each.name}${each.optional ? '?' : ''}: ${each.type.text}`).join(', ');
      return `| \`${name}(${cell(given)}): ${cell(type.text)}\` | ${cell(meaning)} |`;
    });
  const fired = events.map(({ name, description: meaning = '' }) => `| \`${name}\` | ${cell(meaning)} |`);
  const filled = slots.map(({ name, description: meaning = '' }) => `\n\nSlot \`${name}\`: ${meaning}`);
  return `## \`<${tagName}>\`

${description}

| attribute | property | type of the property | meaning |
|---|---|---|---|
${rows.join('\n')}

| method | what it does |
|---|---|
${called.join('\n')}

| event | when |
|---|---|
${fired.join('\n')}${filled.join('')}`;
};

export const renderElementsPage = ({ modules }: Manifest): string => `# Elements

The elements draw what a guest token allows. They come as \`elements.js\` from Guestlist or from a
mounted gateway, and as the package [\`@guestlist/elements\`](packages.md#guestlistelements). A
property may be set before or after the element is in the page. Properties are reflected to their
attributes, except \`token\` and \`options\`.

Events bubble, and cross the border of a shadow tree. \`elements.d.ts\` of the package has the types
of their details.

${modules
  .flatMap(({ declarations }) => declarations)
  .map(chapterOf)
  .join('\n\n')}

With \`metric-id\` alone, \`<guestlist-metric>\` needs a metric embed; with \`metric-id\` and
\`dashboard-id\` it reads the metric through that dashboard.

## Examples

Read this page at \`/docs/reference/elements\` of a running demo (\`npm start\`), and each example has
a button that shows it there. The demo's own login gives the token.

A dashboard, the first that the user may see:

\`\`\`html live
<guestlist-dashboard token-url="/embed-token" url-filters="off"></guestlist-dashboard>
\`\`\`

The same in dark colours, with colours of your own in the charts:

\`\`\`html live
<guestlist-dashboard token-url="/embed-token" url-filters="off" theme="dark"
  chart-colors="#7aa2f7, #e0af68, #9ece6a"></guestlist-dashboard>
\`\`\`

In another language, with a theme in the Design Tokens format:

\`\`\`html live
<guestlist-dashboard token-url="/embed-token" url-filters="off" language="de"
  theme='{"color": {"accent": {"$type": "color", "$value": "#b3261e"}}}'></guestlist-dashboard>
\`\`\`

## Several dashboards

A token with the permission \`isShowSideBar\` shows a side bar: the dashboards that the token opens,
by name, in the reader's language. The service lists them, by the same checks as reading each. On
narrow screens a button opens the list.

- A choice shows that dashboard in place of the one that \`dashboard-id\` names, and fires
  \`guestlist-dashboard-change\`. Filters, marks and tab start anew, as for a page that names it.
- The attribute stays as it is. Another value of it shows that dashboard.
- The choice ends with access, and with the choice of another tenant.
- On paper, and in an element of one card (\`options.metricId\`), there is no side bar.

## Building metrics

\`<guestlist-editor>\` lets a guest make a metric of a dashboard: fields with search, measures,
split, filters, a choice of charts that says why others do not fit, and a preview. It offers what
\`GET /api/v2/guest/dashboards/{id}/fields\` answers, and is absent where the token or the embed
forbids to create metrics, or where \`metricCreationMode\` is \`CHAT\`. Columns can be renamed; the
answer can be sorted, limited and compared with an earlier period; its numbers have a format,
decimals, a unit or a currency, each with an example, and its dates a style; and a click on a mark
can lead to further fields. Groups can be filtered by their values; between two conditions, *and* or
*or* can be chosen; and shares, running totals and changes since the period before can be added. The
tab Rows shows the answer as a table. Guests see and send no SQL.

The list of fields is one stop of the key Tab. Up and Down lead from field to field, Left and Right
to the buttons beside it, Page Up and Page Down from table to table, and a letter to the next field
that begins with it. A field that cannot be combined with the others is reached, too, and says why.

Above the editor are the metrics that the guest may change. \`isEnableMetricUpdation\` edits them,
where the guest may also create metrics; \`isEnableArchiveMetrics\` archives and deletes them;
\`isEnableManageMetrics\` restores them, and lets a user publish an own metric or make it private.
If somebody else changed a metric meanwhile, the editor says so and overwrites nothing.

## Arranging cards

Where the token and the embed give \`isEnableCustomizeLayout\`, \`<guestlist-dashboard>\` has a button
for it. Cards stay drawn meanwhile, and moving one asks for nothing. A card, heading, text, picture
or title of a tab is dragged, or chosen and moved by the arrow keys; its corner, or Shift with the
arrow keys, changes its size. Buttons do the same for the chosen card. Control and Z undoes a step,
and Control and Y does it again. A token of a user saves the arrangement for that user only, and can
restore the original.

## Themes

[Theming](../how-to/theming.md) says how to use them. Tokens and their CSS properties:

| token | property |
|---|---|
| \`color.surface\`, \`color.raised\`, \`color.subtle\` | \`--gl-surface\`, … : grounds of cards, of menus, and under the pointer |
| \`color.border\`, \`color.grid\`, \`color.skeleton\` | \`--gl-border\`, … : lines of cards, lines of charts, what is loading |
| \`color.text\`, \`color.muted\` | \`--gl-text\`, \`--gl-muted\` |
| \`color.accent\`, \`color.on-accent\` | \`--gl-accent\`, \`--gl-on-accent\`: focus, links and what is chosen |
| \`color.good\`, \`color.warning\`, \`color.bad\`, \`color.danger\` | \`--gl-good\`, … : judged numbers, and failures |
| \`color.series.1\` to \`color.series.8\`, \`color.other\` | \`--gl-series-1\` to \`--gl-series-8\`, \`--gl-other\`: what a chart combines as “Other” |
| \`font.family\` | \`--gl-font\` |
| \`radius\`, \`gap\`, \`row-height\` | \`--gl-radius\`, \`--gl-gap\`, \`--gl-row-height\` |

Below \`dark\`, \`color\` has what differs in dark colours. Other groups are free, for aliases such as
\`{brand.blue}\`. \`$extensions.guestlist.scheme\` is \`light\` or \`dark\` for a theme that does not follow
the page.

Parts, for \`::part(…)\` on the outer element: \`head\`, \`heading\`, \`filters\`, \`filter\`, \`locked\`,
\`control\`, \`option\`, \`day\`, \`button\`, \`icon-button\`, \`chip\`, \`card\`, \`card-header\`, \`title\`, \`body\`,
\`legend\`, \`series\`, \`input\`, \`value\`, \`note\`, \`state\`, \`tooltip\`, \`table\`, \`header-cell\`, \`cell\`,
\`menu\`, \`menu-item\`, \`dialog\`, \`tabs\`, \`tab\`, \`tenants\`, \`side-bar\`. Charts are drawn on a canvas:
they take the tokens.

## Where tokens come from

With \`token-url\` or \`getToken\` the element asks for its tokens itself, and for the next one ahead
of the end of each. All elements of a page with the same \`token-url\` share one request. The lifetime
is measured by the \`Date\` of the answer. An answer without one, as of \`getToken\`, is measured by
the browser's clock; if the token seems to be due at once, that clock is wrong, and the token is
used until the service refuses it.

| what happens | what the element does |
|---|---|
| the token ends, is revoked, or is unknown | asks for another; what is shown stays |
| the source answers the same ended token | waits longer before each further request, at most a minute |
| the source answers 401, redirects to a page, or \`getToken\` returns null | clears everything, also filters, and fires \`token-expired\` |
| the source answers 403 | clears everything, shows the message, and fires \`guestlist-error\` |
| the service or the source is away | leaves what is shown, says of when it is, and goes on within five seconds of the return |
| \`getToken\` or the source fails | fires \`guestlist-error\` with the code \`TOKEN_SOURCE_ERROR\`, once until it succeeds, and asks again with growing waits |
| the service answers 429 | waits for its \`Retry-After\`, at most a minute, and asks again, five times |
| the page is hidden | asks nothing until it is shown |

With \`token\` alone, the element fires \`token-expired\` when the token has ended, and continues with
the next \`token\`. With both, it asks the source when \`token\` has ended. Setting \`token\` to null
clears everything: do that at a log-out.

## Several tenants

A session may belong to several tenants, as that of a reseller
([policy](../how-to/embedding.md#a-page-for-resellers)). The element then shows a list of them above
its content, by name, in the reader's language. Until the user chooses, nothing is read.

- Each choice asks the source for a token with \`{tenant}\`. A token opens one tenant, so no query
  reads two.
- A switch cancels what is under way and clears what belongs to the former tenant: cards, filters,
  marks, saved view, tab, cached answers and the filters in the URL. The values of
  \`options.filters\` are the page's own and apply again.
- All elements with the same \`token-url\` follow one choice. With \`getToken\`, each element has its
  own; the function gets \`{tenant}\` and must send it on. An answer with another \`tenant\` is not
  shown.
- \`tenant\` fixes the tenant and shows no list. Two elements with different values stand side by
  side, by one token each; give each dashboard its own \`url-prefix\`. A tenant that is not the
  session's own is refused with 403.
- Where a later session has one tenant, the element shows that one, whatever was chosen before.
- \`guestlist-tenant-change\` tells the page of a choice.

## Pages with a strict policy

The elements write no HTML and no style attributes, and load their parts from the folder of their
script. With \`https://analytics.example\` as the service, the \`Content-Security-Policy\` of a page
needs:

| directive | value |
|---|---|
| \`script-src\`, \`connect-src\` | \`https://analytics.example\` |
| \`require-trusted-types-for\` | \`'script'\`, if you want it |
| \`trusted-types\` | \`lit-html\`, if you list policies |

They create one policy of Trusted Types, \`lit-html\`, once: it makes the templates of the elements,
which hold no data. If your page uses lit itself, that is a second policy of the same name: add
\`'allow-duplicates'\`.

## Downloads and print

Each card has a menu of downloads if the token permits them (\`isEnableDownloadMetrics\`): CSV and
XLSX have all rows; PNG (at twice the density) and SVG show the card with its filters and moment,
and of a table at most 100 rows. A CSV file that the menu saves begins with a byte order mark, which
spreadsheets need; the service's own answer has none.

\`print()\` prints the element alone on A4, light, with filters and moment in words; choose "Save as
PDF" for a file. No card is cut, and a table has all rows that were loaded. When the guest prints
the page by the browser's own menu, the element prints in the same way, with the rest of the page.

## Pages that move over from another client

A page that uses the tags of another client of this interface stays as it is:

\`\`\`html
<script>
  window.dbn = { baseUrl: 'http://127.0.0.1:3000' };
</script>
<dbn-dashboard></dbn-dashboard>
<script type="module">
  import { registerAs } from 'http://127.0.0.1:3000/elements.js';
  registerAs('dbn-dashboard', 'dbn-metric');
  const answer = await fetch('http://127.0.0.1:3000/embed-token', {
    method: 'POST',
    headers: { authorization: \`Bearer \${yourSessionJwt}\` },
  });
  const { token, embeds } = await answer.json();
  const element = document.querySelector('dbn-dashboard');
  element.setAttribute('dashboard-id', embeds[0].id);
  element.setAttribute('token', token);
</script>
\`\`\`

Beside the attributes above, these tags know \`handle-server-event\` (the name of a function of the
page, called with \`{type: 'TOKEN_EXPIRED'}\`), \`width\` and \`height\`, and \`chartColors\` in
\`options\`. Other attributes and options of those clients have no effect: what a user may do is in
the token.

## Filters

On pages up to 600 px wide, one button with the number of set filters opens the filter bar.

The list of a filter has the values of rows that pass the other filters. A chosen value that has no
such rows stays in the list, marked “no rows”, until it is taken back.

A date filter has a list of periods, which the service computes in the time zone of the token, and
two inputs. A range whose start is after its end is never sent: the control says so.
[Metrics](metrics.md#periods-relative-to-today) has the names of all periods.

A list of values has a search on the service, and shows the chosen values first. It lists at most
1,000 values that a search finds, and says if there are more. Up to that number, "Select all" adds
everything that the search found. With \`isSingleChoice: true\` in the filter of the dashboard's file,
the list takes one value.

## Reports and alerts

The answer of the dashboard names in \`scheduleFormats\` what the user may schedule. It is there if
the embed allows reports (\`isAllowEmailReports\`), the token names a user, and the service sends
reports or alerts ([how-to](../how-to/reports.md)). Then \`<guestlist-dashboard>\` shows a bell, which
opens the user's own reports and alerts of the dashboard: what comes next, what became of earlier
ones, and a form. The elements load its script when the user first opens it. A refusal of the
service stands at the field that it names; in other languages than English it is a sentence without
details.

## Saved views

A token with \`isEnableCreateDashboardView\`, on a dashboard that allows it, has a button of saved
views beside the filters. A view is the values of the filters under a name. It belongs to the user
of the token (\`userIdentifier\`).

- With \`isEnableManageMetrics\` too, a user shares views with all users of the tenant, and changes
  and deletes those that are shared.
- A dashboard opens with the user's default view, else with the shared default one. The second
  applies to users who save no views, too. Neither applies where the URL, \`options.filters\` or
  \`setFilters\` sets filters.
- A view only narrows what the token allows, and shows nothing of filters that the token hides.
- Values in a shared view are shown to users whose token restricts nothing, or restricts the same
  rows as the token that chose them. To other users only its dates are shown. Tokens that name
  no user have their views in common, under the same rule.

## Own dashboards

A user whose token has \`isEnableCreateDashboard\`, on a dashboard with \`isAllowDashboardCreation\`,
makes own dashboards: a choice of the cards that the user sees there, arranged anew, with headings,
texts and tabs. \`<guestlist-dashboard>\` then shows a list beside its name, and buttons to make,
edit, share and delete. While it is edited, the key Delete takes the chosen card off it. Both
settings are off unless they say \`true\`, and the token must name a user.

- An own dashboard gives no right to data. Each card is queried as on the dashboard, with its
  filters and restrictions. A metric that is hidden, archived or deleted is absent; without the
  dashboard, the own one cannot be opened.
- With \`isEnableManageMetrics\` too, a user shares it with all users of the tenant, and takes back
  what another user shares. Each reader sees only the cards that the reader's token opens. Its name
  and texts are shown as written.
- A user has at most 20 on a dashboard. One that was changed in another tab meanwhile is not
  overwritten.

## Filters in the URL

\`<guestlist-dashboard>\` writes its filters to the query of the page's URL, by their names:
\`?State=CA&State=NV\`, \`Distance=100..500\`, \`Date=2001-03-01..2001-03-31\`, \`Date=Last+30+Days\`,
\`Late=true\`. A link, a reload, and the back and forward buttons restore them.

- The element replaces the current history entry. It keeps the hash and the page's own parameters.
- A value that the token enforces and shows (\`isShowOnUrl\`; \`show: true\` in a policy) is locked: the
  filter bar has it with a lock and without a control, \`setFilters\` refuses the filter, and
  \`getFilters\` leaves it out. The URL has it with the mark \`guestlist-fixed=<name>\`, and is never
  read back. Other enforced values are hidden: they are in no answer and not in the URL.
- A value in the URL only narrows what the token allows. A value that does not fit its filter is
  left out, and the filter bar says so.
- A filter that would make the query longer than 4,000 characters is left out.
- \`url-filters="off"\` (property \`urlFilters\`) turns this off. \`url-prefix="a."\` puts a prefix before
  each name, for pages with two dashboards or with parameters of the same name.
- After your router has changed the path, the element no longer changes the URL.
`;
