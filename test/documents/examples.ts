/** The `@example`s in the comments of published declarations, as users read them in their editors. */

export type Example = { readonly name: string; readonly language: string; readonly text: string };

type Declared = { readonly name: string; readonly comment: string };

/** The functions and classes that a file of declarations exports, each with the comment before it. */
const declaredIn = (types: string): readonly Declared[] =>
  [
    ...types.matchAll(
      /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?^export (?:declare )?(?:const|function|class|abstract class) (\w+)/gm,
    ),
  ].map(([, comment = '', name = '']) => ({ name, comment }));

export const namesIn = (types: string): readonly string[] => declaredIn(types).map(({ name }) => name);

export const examplesIn = (types: string): readonly Example[] =>
  declaredIn(types).flatMap(({ name, comment }) =>
    [...comment.matchAll(/@example\s*\n\s*\* ```(tsx?)\n([\s\S]*?)\n\s*\* ```/g)].map(
      ([, language = '', text = '']) => ({ name, language, text: `${text.replaceAll(/^\s*\* ?/gm, '')}\n` }),
    ),
  );
