/** Looks at the rights of each datasource's user: a report only reads, so everything else is too much. */

import type { ExcessRight } from '../../model/datamart/source-rights.js';
import { type Datasource, isFile, isUntested, isVariant, variants } from '../../model/organization.js';
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

/** Tests of the engine say nothing about such a source, so somebody has to compare what tenants see. */
const untested = ({ name, datasourceType: type }: Datasource): readonly Finding[] =>
  isVariant(type) && isUntested(type)
    ? [
        finding('warning', area, `a ${type} source is in use, and Guestlist was never run on ${variants[type].title}`, {
          subject: name,
          mend: 'Compare the rows of two tenants with the database itself: guestlist tenancy names those of each table. docs/reference/databases.md says what this type lacks.',
        }),
      ]
    : [];

/** The server does not say what the user may do. */
const unknownRights = ({ name, datasourceType }: Datasource, version: string): Finding =>
  finding('warning', area, `the rights of the user of a ${datasourceType} source cannot be read`, {
    subject: `${name}: ${version}`,
    mend: 'Check them by hand: the user may read the tables of the datamarts, and do nothing else.',
  });

const examineSource = async (engine: Pick<Engine, 'readRights'>, source: Datasource): Promise<readonly Finding[]> => {
  try {
    const { version, excess, isUnknown } = await engine.readRights(source);
    const subject = `${source.name}: ${version}`;
    if (isUnknown === true) return [...encryption(source), unknownRights(source, version)];
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
  for (const source of sources) found.push(...untested(source), ...(await examineSource(engine, source)));
  return found;
};
