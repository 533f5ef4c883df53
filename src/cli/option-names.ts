/**
 * The options of each command, for completion alone: the code of a command declares them, and a test compares. The key
 * is the command, with its subcommand if it has some.
 */
import { resourceNames, resourceWords } from './resource-names.js';

const answer = ['json', 'url'];
const change = ['new', 'json', 'url'];
const files = ['delete', 'json', 'url'];
const ending = ['end-sessions', 'reason', 'url'];
const ofUser = ['issuer', 'no-issuer', 'tenant', ...ending];

const ofTenants = {
  'tenants list': ['tenant', 'state', 'outcome', 'template', 'version', 'limit', 'after', ...answer],
  'tenants provision': ['tenant', 'file', 'all', 'new', 'template', 'parallel', 'after', ...answer],
  'tenants history': ['limit', ...answer],
  'tenants check': ['tenant', 'count', ...answer],
  'tenants plan': answer,
  'tenants apply': 'canary steps max-failures on-conflict adopt pause version label resume json url'.split(' '),
  'tenants rollback': answer,
  'tenants rollouts': answer,
  'tenants suspend': change,
  'tenants resume': change,
  'tenants erase': ['yes', ...change],
};

/** Those that act on one kind of object. */
const ofResources = Object.fromEntries(
  resourceNames.flatMap((name) =>
    resourceWords[name].subcommands.map((word) => {
      const isFinal = word === 'delete';
      const flags = name === 'guest-tokens' && word === 'list' ? ['client', 'user'] : [];
      return [`${name} ${word}`, [...flags, ...(isFinal ? ['yes'] : []), ...answer]] as const;
    }),
  ),
);

export const optionNames: Readonly<Record<string, readonly string[]>> = {
  serve: ['only', 'accept-loss'],
  init: ['database', 'tenant-table', 'client-column', 'shared', 'origin', 'claim', 'port', 'yes'],
  'policy test': ['cover', ...answer],
  'policy explain': 'as policy tenant embeds timezone lookup now request json url'.split(' '),
  'policy plan': ['users', 'fail-on', 'now', 'json'],
  'policy schema': ['tenant-files'],
  ...ofTenants,
  ...ofResources,
  'keys reseal': [],
  pull: ['workspace', ...answer],
  plan: files,
  push: ['yes', ...files],
  tenancy: answer,
  'studio-link': ['url', 'help'],
  'operator-key create': ['roles', 'days', 'url'],
  'operator-key list': ['url'],
  'operator-key end': ['url'],
  'revoke user': ofUser,
  'revoke tenant': ending,
  'revoke policy': ending,
  'revoke all': ending,
  'unrevoke user': ofUser,
  'unrevoke tenant': ending,
  'unrevoke all': ending,
  'audit verify': ['head', 'file', 'url'],
  'audit export': ['after', 'tenant', 'kind', 'names', 'url'],
  conformance:
    'base-url service-token api-key data-app datamart workspace template client only ours make-workspaces json'.split(
      ' ',
    ),
};
