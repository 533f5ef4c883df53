/** `guestlist completion`: scripts that complete commands, subcommands and options in a shell. */
import { Argument, Command, type CommandUnknownOpts } from '@commander-js/extra-typings';

type Commands = readonly CommandUnknownOpts[];

const namesOf = (commands: Commands): string => commands.map((command) => command.name()).join(' ');

/** What may follow the name of a command: its subcommands, or the choices of its argument. */
const wordsOf = (command: CommandUnknownOpts): string =>
  namesOf(command.commands) || command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices).join(' ');

const optionsOf = (command: CommandUnknownOpts): readonly string[] => [
  ...new Set([...command.options.map(({ long }) => long ?? ''), '--help']),
];

/** The commands that have code of their own, each with the words that call it. */
export const callable = (commands: Commands): readonly (readonly [string, CommandUnknownOpts])[] =>
  commands.flatMap((command) =>
    command.commands.length === 0
      ? [[command.name(), command] as const]
      : callable(command.commands).map(([words, each]) => [`${command.name()} ${words}`, each] as const),
  );

const bash = (commands: Commands): string => {
  const cases = commands
    .filter((command) => wordsOf(command) !== '')
    .map((command) => `    ${command.name()}) words="${wordsOf(command)} --help" ;;`);
  const options = callable(commands).map(
    ([called, command]) =>
      `    "${called}${called.includes(' ') ? '' : ' '}"*) words="${optionsOf(command).join(' ')}" ;;`,
  );
  return `# guestlist completion bash: save as ~/.local/share/bash-completion/completions/guestlist
_guestlist() {
  local words
  case "$COMP_CWORD:\${COMP_WORDS[1]}" in
    1:*) words="${namesOf(commands)} help --version" ;;
    2:help) words="${namesOf(commands)} variables" ;;
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

const zsh = (
  commands: Commands,
): string => `# guestlist completion zsh: save as ~/.guestlist.zsh, and add to ~/.zshrc, after compinit
#   source ~/.guestlist.zsh
autoload -Uz bashcompinit && bashcompinit
${bash(commands)
  .split('\n')
  .filter((line) => !line.startsWith('#'))
  .join('\n')}`;

const fish = (commands: Commands): string => {
  const lines = commands.flatMap((command) => {
    const [name, words] = [command.name(), wordsOf(command)];
    return [
      `complete -c guestlist -n "not __fish_seen_subcommand_from ${namesOf(commands)}" -a ${name} -d '${command.summary().replaceAll("'", "\\'")}'`,
      ...(words === '' ? [] : [`complete -c guestlist -n "__fish_seen_subcommand_from ${name}" -a '${words}'`]),
    ];
  });
  const options = callable(commands).flatMap(([called, command]) => {
    const seen = called
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ');
    return optionsOf(command).map((option) => `complete -c guestlist -n "${seen}" -l ${option.slice(2)}`);
  });
  return `# guestlist completion fish: save as ~/.config/fish/completions/guestlist.fish\ncomplete -c guestlist -f\n${[...lines, ...options].join('\n')}`;
};

const scripts = { bash, zsh, fish } as const;

/** `load` gives all commands with their declarations. */
export const completionCommand = (load: () => Promise<Commands>) =>
  new Command()
    .description('Prints a completion script. Its first lines say where it belongs.')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell) => console.log(scripts[shell](await load())));
