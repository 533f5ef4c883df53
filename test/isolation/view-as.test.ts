/**
 * Studio's view as a user equals the user's own token, answer by answer: for random policies, users and dashboards, all
 * that a view may ask is asked through both. A person without access to data gets the same definitions and no row.
 * `npm run isolation -- --only view-as` runs many more cases.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { StudioRole } from '../../src/model/person.js';
import type { Operation } from '../../src/platform/http/interface/operation.js';
import { operations } from '../../src/service/operations.js';
import { type ShownBoard, withoutOffers } from '../studio/view-offers.js';
import { countOfCases } from './count.js';
import { createStage, type Stage } from './stage.js';
import { type Answered, type Ask, type Board, startStudioWorld } from './studio-world.js';
import { aViewCase, drawBoards, drawMart, type User, type ViewQuestion, withEmbeds } from './view-cases.js';
import {
  type Asked,
  type BoardView,
  bodyOf,
  codeOf,
  comparable,
  countRows,
  questionsOf,
  questionsOfBoard,
  withoutRows,
} from './view-questions.js';

const asked = countOfCases(800, 2000);
const numRuns = Math.ceil(asked / 200);
const seed = Number(process.env.ISOLATION_SEED ?? 20_261_126);
const endOnFailure = process.env.ISOLATION_SHRINK === '0';

let stage: Stage;
let boards: readonly Board[];
let world: Awaited<ReturnType<typeof startStudioWorld>>;
/** An author who sees data, and one who does not. Both may create dashboards, as the login of a user does. */
let author: Ask;
let blind: Ask;
beforeAll(async () => {
  stage = await createStage('DUCKDB', seed);
  boards = drawBoards(stage, seed, asked > 2000 ? 24 : 8);
  const { datasource } = stage.places.shared;
  world = await startStudioWorld(stage.engine, { datasource, mart: drawMart(stage, seed), boards });
  const person = (subject: string, seesData: boolean) =>
    world.enter({
      issuer: 'people',
      subject,
      name: subject,
      roles: ['author', 'publisher'] satisfies StudioRole[],
      seesData,
    });
  [author, blind] = await Promise.all([person('ada', true), person('bob', false)]);
}, 120_000);
afterAll(async () => {
  await world?.close();
  await stage?.remove();
});

type Embed = { readonly id: string; readonly type: string };
type Opened = { readonly token: string; readonly embeds: readonly Embed[] };
const tally = { cases: 0, granted: 0, asked: 0, answered: 0, rows: 0, previews: 0, boards: 0 };
const all: readonly Operation[] = Object.values(operations);
const seenOperations = new Set<string>();

test('a view as a user answers what the user’s own token answers, and without access to data no row', async () => {
  await fc.assert(
    fc.asyncProperty(aViewCase(boards), async ({ policy, user, question }) => {
      await world.govern(withEmbeds(policy, boards, world.embeds));
      const [login, seeing, blindly] = await Promise.all([
        world.logIn(user),
        viewOf(author, user),
        viewOf(blind, user),
      ]);
      tally.cases += 1;
      if (login.status !== 200) {
        for (const view of [seeing, blindly])
          expect([view.status, codeOf(view)]).toEqual([login.status, codeOf(login)]);
        return;
      }
      tally.granted += 1;
      const own = bodyOf<Opened>(login);
      const [view, dark] = [seeing, blindly].map((answer) => bodyOf<{ data: Opened }>(answer).data);
      if (view === undefined || dark === undefined) throw new Error('no view');
      expect(view.embeds).toEqual(own.embeds);
      expect(dark.embeds).toEqual(own.embeds);
      const guest = world.asGuest(own.token);
      const views = [world.asView(view.token), world.asView(dark.token)] as const;
      for (const { id, type } of own.embeds) {
        if (type === 'metric') {
          for (const one of questionsOf(id, undefined, question)) await compare(one, guest, views, id);
          continue;
        }
        const opening: Asked = {
          name: 'getGuestDashboard',
          ask: (as) => as('GET', `/dashboards/${encodeURIComponent(id)}`),
        };
        await compare(opening, guest, views, id);
        const board = bodyOf<BoardView>(await opening.ask(guest));
        for (const one of questionsOfBoard(id, board, question)) await compare(one, guest, views, id);
        await comparePreviews(id, { seeing: view.token, blindly: dark.token }, guest, board, question);
        await compareOwnBoard(id, guest, views, board);
      }
    }),
    { seed, numRuns, endOnFailure },
  );
  // With too few answers the cases would test too little.
  if (numRuns < 10) return;
  const viewed = all.filter(({ viewedAs }) => viewedAs !== undefined);
  expect([...seenOperations].toSorted()).toEqual(viewed.map(({ name }) => name).toSorted());
  expect(tally.granted / tally.cases).toBeGreaterThan(0.3);
  expect(tally.answered / tally.asked).toBeGreaterThan(0.4);
  // How many a seed has varies: about half of the runs.
  expect(Math.min(tally.rows, tally.previews)).toBeGreaterThan(numRuns / 4);
}, 36_000_000);

/** Opens a view of the user, as this person. */
const viewOf = async (as: Ask, { sub, org, ...claims }: User): Promise<Answered> =>
  as('POST', '/commands/view-open', { clientId: org, claims: { sub, org, ...claims, iss: world.issuer } });

/** The two views against the user's own token. */
const compare = async (
  { name, ask }: Asked,
  own: Ask,
  [seeing, blindly]: readonly [Ask, Ask],
  where: string,
): Promise<void> => {
  const [theirs, seen, without] = await Promise.all([own, seeing, blindly].map(ask));
  if (theirs === undefined || seen === undefined || without === undefined) throw new Error('no answer');
  const isOpen = theirs.status === 200;
  tally.asked += 1;
  tally.answered += isOpen ? 1 : 0;
  if (isOpen) seenOperations.add(name);
  if (name === 'queryGuestMetric') tally.rows += countRows(theirs);
  // An author builds on the user's fields, whether or not the user may build.
  const isBuilt = name === 'listGuestFields' && !isOpen;
  if (name === 'getGuestDashboard' && theirs.status === 200)
    expect(bodyOf(seen), `${name} ${where}`).toEqual(withoutOffers(bodyOf<ShownBoard>(theirs)));
  else if (!isBuilt) expect(comparable(seen), `${name} ${where}`).toEqual(comparable(theirs));
  if (withoutRows.has(name)) {
    expect(comparable(without), `${name} without data, ${where}`).toEqual(comparable(seen));
    return;
  }
  expect([without.status, codeOf(without)], `${name} without data, ${where}`).toEqual([403, 'UNAUTHORIZED']);
};

/** A metric that is not saved: as the user's own editor would try it, and the very card as an author would. */
const comparePreviews = async (
  id: string,
  view: { readonly seeing: string; readonly blindly: string },
  own: Ask,
  { data }: BoardView,
  { dashboardFilter }: ViewQuestion,
): Promise<void> => {
  const board = boards.find((one) => one.id === id.slice(0, id.indexOf('--')));
  for (const { name, definition } of board?.metrics ?? []) {
    const { kind: _, ...parts } = definition as VisualDefinition;
    const bare = { ...parts, filters: undefined, rlsVariables: undefined };
    const plain = { ...definition, filters: [], rlsVariables: [] };
    const shared = { dashboardId: id, dashboardFilter };
    const preview = (as: Ask, of: string, tried: object) =>
      as('POST', '/commands/metric-preview', { ...shared, view: of, definition: tried });
    const [theirs, seen, without] = await Promise.all([
      own('POST', '/metrics/preview', { ...shared, definition: bare }),
      preview(author, view.seeing, plain),
      preview(blind, view.blindly, plain),
    ]);
    expect([without.status, codeOf(without)], name).toEqual([403, 'UNAUTHORIZED']);
    const rowsOf = (answer: Answered): unknown =>
      answer.status === 200
        ? ((bodyOf<{ data: unknown }>(answer).data as { data?: unknown }).data ??
          bodyOf<{ data: unknown }>(answer).data)
        : [answer.status, codeOf(answer)];
    if (theirs.status === 200) {
      tally.previews += 1;
      expect(rowsOf(seen), `preview of ${name} on ${id}`).toEqual(rowsOf(theirs));
    }
    const card = data.metrics.find((metric) => metric.name === name);
    if (card === undefined || seen.status !== 200) continue;
    const asked = await own('POST', `/metrics/${encodeURIComponent(card.metricId)}/query`, shared);
    expect(rowsOf(await preview(author, view.seeing, definition)), `${name} on ${id}`).toEqual(rowsOf(asked));
    tally.previews += 1;
  }
};

/** The user's own dashboard, of cards of this one, as a view reads it. */
const compareOwnBoard = async (
  id: string,
  own: Ask,
  views: readonly [Ask, Ask],
  { data }: BoardView,
): Promise<void> => {
  const path = `/dashboards/${encodeURIComponent(id)}/boards`;
  const layout = data.metrics.map(({ metricId }, y) => ({ metricId, x: 0, y, w: 6, h: 1 }));
  tally.boards += 1;
  const made = await own('POST', path, { name: `own ${tally.boards}`, layout });
  if (made.status !== 200) return;
  const { data: board } = bodyOf<{ data: { id: string } }>(made);
  await compare({ name: 'getGuestBoard', ask: (as) => as('GET', `${path}/${board.id}`) }, own, views, id);
};
