/** Returns the text of docs/reference/chart-gallery.md from the dashboard of the golden pictures; `npm run docs` writes the file. */
import { type ChartType, chartTypes } from '../src/model/dashboard/chart.js';
import { definitionOf } from './product/chart-metrics.js';

/** JSON with a space after each colon and comma. */
const inline = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}: ${inline(each)}`)
    .join(', ')}}`;
};

/** Lists of objects have a line for each. */
const field = ([name, value]: [string, unknown]): string => {
  const isLong = Array.isArray(value) && inline(value).length > 80;
  const text = isLong ? `[\n${value.map((each) => `    ${inline(each)}`).join(',\n')}\n  ]` : inline(value);
  return `${JSON.stringify(name)}: ${text}`;
};

const chapterOf = (type: ChartType): string => `## \`${type}\`

![The chart of the type ${type}](../images/charts/${type}.png)

\`\`\`json
{${Object.entries(definitionOf(type)).map(field).join(',\n  ')}}
\`\`\``;

export const renderChartGallery = (): string => `# Chart gallery

Each chart type with the definition that makes it, over the demo's flights. The pictures are those
that \`npm run goldens\` compares with what the elements draw. [Charts](charts.md) lists the fields,
and the [theme studio](../how-to/theme-studio.md) draws them all in your colours.

${chartTypes.map(chapterOf).join('\n\n')}
`;
