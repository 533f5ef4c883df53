/** Looks at the rights of each datasource's user: a report only reads, so everything else is too much. */

import type { ExcessRight } from '../../model/datamart/source-rights.js';
import { type Datasource, isFile } from '../../model/organization.js';
import type { Engine } from '../../model/query/engine.js';
import { type Finding, finding, good, wordsOf } from './finding.js';
import { isLocalHost } from './machine.js';

const area = 'datasources';

const words: Readonly<Record<ExcessRight, string>> = {
  superuser: 'is a superuser',
  'bypass-rls': 'is not held by row-level security (BYPASSRLS, or the owner of its tables)',
  write: 'may write to tables',
  create: 'may create tables',
  administer: 'may administer users, databases or the server',
};

/** Those that open the second wall of tenants, or everything. */
const isWallOpen = (excess: readonly ExcessRight[]): boolean =>
  excess.includes('superuser') || excess.includes('bypass-rls');

const mend =
  'Make a user that may only read: GRANT USAGE ON SCHEMA and SELECT ON the tables of the datamarts, NOSUPERUSER NOBYPASSRLS, and no ownership. Then enter it in Studio.';

const encryption = (source: Datasource): readonly Finding[] =>
  isFile(source) || source.isSsl || isLocalHost(source.host)
    ? []
    : [
        finding('warning', 'TLS', 'the connection to a datasource is not encrypted', {
          subject: source.name,
          mend: 'Turn on TLS of the datasource in Studio.',
        }),
      ];

const examineSource = async (engine: Pick<Engine, 'readRights'>, source: Datasource): Promise<readonly Finding[]> => {
  try {
    const { version, excess } = await engine.readRights(source);
    const subject = `${source.name}: ${version}`;
    const rights = excess.map((right) => words[right]).join(', ');
    return [
      ...encryption(source),
      excess.length === 0
        ? good(area, `the user of a ${source.datasourceType} source may only read`, subject)
        : finding(
            isWallOpen(excess) ? 'fault' : 'warning',
            area,
            `the user of a ${source.datasourceType} source ${rights}`,
            { subject, mend },
          ),
    ];
  } catch (error) {
    return [
      finding(
        'fault',
        area,
        `a ${source.datasourceType} source does not answer, or does not tell the rights of its user`,
        {
          subject: `${source.name}: ${wordsOf(error)}`,
          mend: 'Check host, port, user and password in Studio; the message says what the server said.',
        },
      ),
    ];
  }
};

export const examineSources = async (
  engine: Pick<Engine, 'readRights'>,
  sources: readonly Datasource[],
): Promise<readonly Finding[]> => {
  const found: Finding[] = [];
  for (const source of sources) found.push(...(await examineSource(engine, source)));
  return found;
};
