/** `guestlist model sync`: compares a datamart with its database, and takes over what a person accepts. */
import { Command } from '@commander-js/extra-typings';
import { nameOfChange } from '../model/datamart/source-changes.js';
import { findEnds } from './definitions.js';
import { FileFaults } from './files/faults.js';
import { type Asking, askingOf } from './init/questions.js';
import { type Answer, collect, jsonOption, printAnswer, serviceUrl } from './kit/declare.js';
import { WrongCall } from './kit/exit.js';
import { acceptedBy, askBreaks, askChanges, type Flags, isDecided, undecided } from './model/accepted.js';
import { breakLine, offerJson, offerLines } from './model/report.js';
import { type Accepted, type Change, type Offer, readTarget, type Target } from './model/target.js';

type Given = Flags & {
  readonly datamart?: string;
  readonly dryRun?: true;
  readonly json?: true;
  readonly url?: string;
};

const nameList = (changes: readonly Change[]): string => changes.map(nameOfChange).join(', ');

/** Throws WrongCall for what cannot be saved, before anything is written. */
const assertSavable = (fault: string | null, offers: readonly Offer[], accepted: readonly Change[]): void => {
  if (fault !== null) throw new WrongCall(fault);
  const left = undecided(offers, accepted);
  if (left.length === 0) return;
  const what = 'no datamart can be saved with what its database does not have';
  throw new WrongCall(`nothing was saved, since ${what}. Decide by --remove or --rename about: ${nameList(left)}`);
};

/** The retyped columns. Each save takes their new types, so what that breaks needs a word of its own. */
const retyped = (offers: readonly Offer[]): readonly Offer[] =>
  offers.filter(({ change }) => change.kind === 'retyped');

const assertTypes = (offers: readonly Offer[], { types }: Flags): void => {
  const breaking = retyped(offers).filter(({ breaks }) => breaks.length > 0);
  if (types === true || breaking.length === 0) return;
  const names = nameList(breaking.map(({ change }) => change));
  throw new WrongCall(
    `nothing was saved: a save also takes the new types of ${names}, and they break what is named above; add --types`,
  );
};

type Outcome = {
  readonly lines: readonly string[];
  readonly accepted: readonly Change[];
  readonly isSaved: boolean;
};

const save = async (target: Target, model: Accepted['model'], offers: readonly Offer[]): Promise<readonly string[]> => {
  const said = await target.save(model);
  const names = nameList(retyped(offers).map(({ change }) => change));
  return names === '' ? said : [...said, `with it, the datamart takes the new types of ${names}`];
};

/** Null: nothing is accepted, and no type is new. */
const acceptedOf = async ({ compare }: Target, changes: readonly Change[]): Promise<Accepted | null> =>
  changes.length === 0 ? null : (await compare(changes)).accepted;

const decide = async (target: Target, offers: readonly Offer[], given: Given, asking: Asking): Promise<Outcome> => {
  const none = { accepted: [], isSaved: false };
  if (given.dryRun || (asking === null && !isDecided(given)))
    return {
      ...none,
      lines: ['Nothing was saved. Accept changes by --add, --leave-out, --remove, --rename, --types or --yes.'],
    };
  const accepted = asking === null ? acceptedBy(offers, given) : await askChanges(asking, offers);
  const types = retyped(offers).map(({ change }) => change);
  const outcome = await acceptedOf(target, [...accepted, ...types]);
  assertSavable(outcome?.fault ?? null, offers, accepted);
  if (asking === null) assertTypes(offers, given);
  if (
    outcome === null ||
    (accepted.length === 0 && (types.length === 0 || (asking === null && given.types === undefined)))
  )
    return { ...none, lines: ['Nothing was accepted, and nothing was saved.'] };
  const { breaks, model } = outcome;
  if (asking !== null && !(await askBreaks(asking, breaks))) return { ...none, lines: ['Nothing was saved.'] };
  const said = accepted.length === 0 ? await target.saveTypes() : await save(target, model, offers);
  const lines = [
    ...accepted.map((change) => `accepted ${change.kind} ${nameOfChange(change)}`),
    ...breaks.map(breakLine),
  ];
  return { lines: [...lines, ...said], accepted, isSaved: true };
};

const answerOf = (target: Target, offers: readonly Offer[], { lines, accepted, isSaved }: Outcome): Answer => ({
  json: {
    ...{ datamart: target.name, file: target.file, changes: offers.map(offerJson) },
    ...{
      accepted: accepted.map((change) => ({ kind: change.kind, name: nameOfChange(change), newName: change.newName })),
    },
    isSaved,
  },
  text: lines.join('\n'),
});

const sync = async (folder: string, given: Given): Promise<void> => {
  const { json, url } = given;
  const target = await readTarget(await findEnds(url), folder, given.datamart);
  const { data: offers } = await target.compare([]);
  const where = target.file === null ? 'as the service has it' : `as ${folder}/${target.file} describes it`;
  if (!json) console.log(`The datamart ${target.name}, ${where}, and its database:`);
  if (offers.length === 0) {
    printAnswer(json, answerOf(target, offers, { lines: ['Nothing differs.'], accepted: [], isSaved: false }));
    return;
  }
  if (!json) console.log(`${offers.flatMap(offerLines).join('\n')}\n`);
  const isAsked = !json && !given.dryRun && !isDecided(given);
  const outcome = await decide(target, offers, given, isAsked ? await askingOf(undefined) : null);
  printAnswer(json, answerOf(target, offers, outcome));
};

const syncCommand = new Command('sync')
  .summary('compare a datamart with its database, and take over what is new, renamed or gone')
  .description(
    `Compares a datamart with the tables that its database has now, and names what each change breaks: metrics, filters,
relationships, custom columns, parts of the policy, and whose the rows of a table are. A column that you leave out is not
listed again. In a terminal it asks; otherwise the options say what is accepted, and without one nothing is saved.

If a file of the folder describes the datamart, that file is written, and "guestlist push" brings it to the service, after a
"guestlist pull" if somebody changed something there since. Otherwise the service is changed. Metrics are never changed.`,
  )
  .argument('[folder]', 'the folder of pull and push', 'definitions')
  .option('--datamart <name>', 'the datamart; may be left out if there is only one')
  .option('--dry-run', 'only compare')
  .option('--add <name>', 'add TABLE or TABLE.COLUMN; may be given several times', collect)
  .option('--remove <name>', 'remove what is gone, also if that breaks something; may be given several times', collect)
  .option('--rename <old=new>', 'TABLE=NEW or TABLE.COLUMN=NEW; may be given several times', collect)
  .option('--leave-out <name>', 'leave TABLE.COLUMN out, and do not list it again; may be given several times', collect)
  .option('--types', 'take the new types of columns, also if that breaks something')
  .option('--yes', 'take every addition that is safe; nothing is removed or renamed')
  .addOption(jsonOption)
  .addOption(serviceUrl)
  .addHelpText(
    'after',
    `
It asks the running service with GUESTLIST_SERVICE_TOKEN, or the token in the data folder. It sees the policy on the gateway's
machine, where the configuration names it. Ends with 2 if nothing could be saved.`,
  )
  .action(async (folder, given) => {
    try {
      await sync(folder, given);
    } catch (cause) {
      throw cause instanceof FileFaults ? new WrongCall(cause.message, { cause }) : cause;
    }
  });

export const modelCommand = new Command().addCommand(syncCommand);
