/** `guestlist completion`: scripts that complete commands, subcommands and options in a shell. */
import { nearestName } from '../domain/nearest-name.js';
import { optionNames } from './option-names.js';
import { WrongCall } from './wrong-call.js';

/** What is completed: a command with its subcommands. */
type Command = { readonly name: string; readonly summary: string; readonly subcommands: readonly string[] };

const flags = (names: readonly string[]): string => [...names, 'help'].map((name) => `--${name}`).join(' ');

const bash = (commands: readonly Command[]): string => {
  const cases = commands
    .filter(({ subcommands }) => subcommands.length > 0)
    .map(({ name, subcommands }) => `    ${name}) words="${subcommands.join(' ')} --help" ;;`);
  const options = Object.entries(optionNames).map(
    ([called, names]) => `    "${called}${called.includes(' ') ? '' : ' '}"*) words="${flags(names)}" ;;`,
  );
  return `# guestlist completion bash: add to ~/.bashrc
#   eval "$(guestlist completion bash)"
_guestlist() {
  local words
  case "$COMP_CWORD:\${COMP_WORDS[1]}" in
    1:*) words="${commands.map(({ name }) => name).join(' ')} help --version" ;;
    2:help) words="${commands.map(({ name }) => name).join(' ')} variables" ;;
  esac
  [ "$COMP_CWORD" = 2 ] && case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  case "\${COMP_WORDS[COMP_CWORD]}" in -*)
    [ "$COMP_CWORD" -gt 1 ] && words="--help" && case "\${COMP_WORDS[1]} \${COMP_WORDS[2]} " in
${options.join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _guestlist guestlist`;
};

const zsh = (commands: readonly Command[]): string => `# guestlist completion zsh: add to ~/.zshrc, after compinit
#   eval "$(guestlist completion zsh)"
autoload -Uz bashcompinit && bashcompinit
${bash(commands)
  .split('\n')
  .filter((line) => !line.startsWith('#'))
  .join('\n')}`;

const fish = (commands: readonly Command[]): string => {
  const names = commands.map(({ name }) => name).join(' ');
  const lines = commands.flatMap(({ name, summary, subcommands }) => [
    `complete -c guestlist -n "not __fish_seen_subcommand_from ${names}" -a ${name} -d '${summary.replaceAll("'", "\\'")}'`,
    ...(subcommands.length === 0
      ? []
      : [`complete -c guestlist -n "__fish_seen_subcommand_from ${name}" -a '${subcommands.join(' ')}'`]),
  ]);
  const options = Object.entries(optionNames).flatMap(([called, flagNames]) => {
    const seen = called
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ');
    return [...flagNames, 'help'].map((name) => `complete -c guestlist -n "${seen}" -l ${name}`);
  });
  return `# guestlist completion fish: save as ~/.config/fish/completions/guestlist.fish\ncomplete -c guestlist -f\n${[...lines, ...options].join('\n')}`;
};

const scripts = { bash, zsh, fish } as const;
const usage = 'guestlist completion bash|zsh|fish: prints a completion script. Its first lines say where it belongs.';

/** Throws WrongCall. */
export const runCompletion = async ([shell = '']: readonly string[], commands: readonly Command[]): Promise<number> => {
  if (shell === '--help' || shell === '-h') {
    console.log(usage);
    return 0;
  }
  if (shell !== 'bash' && shell !== 'zsh' && shell !== 'fish') {
    const near = nearestName(shell, Object.keys(scripts));
    const hint = near === undefined ? '' : `. Did you mean "${near}"?`;
    throw new WrongCall(`name a shell: bash, zsh or fish, not "${shell}"${hint}`);
  }
  console.log(scripts[shell](commands));
  return 0;
};
