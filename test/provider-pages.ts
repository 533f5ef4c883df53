/** Writes docs/how-to/logins/NAME.md, a page for each login provider, from its preset. */
import { stringify } from 'yaml';
import { loadPreset, type Preset, type PresetName, presetNames } from '../src/platform/config/presets.js';

const width = 100;

/** Breaks a paragraph or an item of a list into lines. Code spans stay whole where they fit. */
const wrapped = (text: string, indent = ''): string => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && indent.length + longer.length > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].join(`\n${indent}`);
};

const item = (text: string): string => `- ${wrapped(text, '  ')}`;

/** A value of the customer's, in the place of the braces of a preset. */
const example = (text: string): string =>
  text.replaceAll(/\{([^}]*)\}/g, (_, name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'));

const issuerLines = (name: PresetName, { issuer }: Preset): string => {
  const { iss, audience, jwksUrl } = issuer;
  const isGiven = issuer.discover || jwksUrl === undefined || !jwksUrl.replaceAll('{iss}', '').includes('{');
  const entry = {
    preset: name,
    issuer: example(iss),
    ...(audience === 'none' ? {} : { audience: name === 'supabase' ? 'authenticated' : 'your-audience' }),
    ...(isGiven ? {} : { jwksUrl: example(jwksUrl ?? '') }),
  };
  return stringify({ gateway: { session: { issuers: [entry] } } }, { lineWidth: 0 });
};

const values = ({ issuer }: Preset): readonly string[] => [
  item(`\`issuer\`: \`${issuer.iss}\`, letter by letter as the \`iss\` of your tokens.`),
  ...(issuer.audience === 'none'
    ? [item(`\`audience\` is not needed. ${issuer.audienceIs}`)]
    : [item(`\`audience\` (${issuer.audience}): ${issuer.audienceIs}`)]),
  ...(issuer.discover
    ? [item("The keys are found by the issuer's OpenID document.")]
    : [item(`The keys are at \`${issuer.jwksUrl ?? ''}\`.`)]),
  item(`Signatures: ${issuer.algorithms.join(', ')}.`),
];

const policyLines = ({ session }: Preset): string => stringify({ session }, { lineWidth: 0 });

const renderPage = (name: PresetName): string => {
  const preset = loadPreset(name);
  const { provider, docs, verified, unverified } = preset;
  return `# Log in with ${provider}

${wrapped(`Your users log in with ${provider}, and its token is their session here. The preset \`${name}\` says how its tokens are signed and what they mean. \`guestlist init --login ${name}\` writes these lines for you.`)}

## 1. Say whom you trust

In \`guestlist.yaml\`:

\`\`\`yaml
${issuerLines(name, preset)}\`\`\`

${values(preset).join('\n')}

## 2. Say what a session means

In the policy:

\`\`\`yaml
session: { preset: ${name} }
\`\`\`

${wrapped('That is short for the lines below. Write any of them beside `preset` to change it; claims are added to those of the preset.')}

\`\`\`yaml
${policyLines(preset)}\`\`\`

## 3. Try it

\`\`\`sh
guestlist session check TOKEN
\`\`\`

${wrapped(`TOKEN is that of a logged-in user. The command says which key verifies it, what it claims, its tenant and roles, what the policy decides, and the mend for each fault. Sign-ups: [webhooks of providers](../provider-webhooks.md).`)}

## What this page rests on

${wrapped(`${provider}'s own page is <${docs}>. Verified on its pages:`)}

${verified.map(({ says, at }) => item(`${says} (<${at}>)`)).join('\n')}
${unverified.length === 0 ? '' : `\nNot verified, or up to your set-up:\n\n${unverified.map(item).join('\n')}\n`}`;
};

/** The pages, each with the function that renders it and its source. */
export const providerPages: readonly (readonly [string, () => string, string])[] = presetNames.map((name) => [
  `docs/how-to/logins/${name}.md`,
  () => renderPage(name),
  `\`config/presets/${name}.yaml\``,
]);

/** The table of the providers, docs/how-to/logins/README.md. */
export const renderProviderTable = (): string => `# Log in with your provider

| provider | preset |
|---|---|
${presetNames.map((name) => `| [${loadPreset(name).provider}](${name}.md) | \`${name}\` |`).join('\n')}

Other logins: [sessions of any issuer](../sessions.md), and
[cookies that only your app understands](../opaque-sessions.md).
`;
