import { Command } from 'commander';
import { shownFlags } from './command.ts';

/** A command line that may be completed: the words so far, and what may follow. */
interface CompletionLevel {
  /** Names the command, such as `account create`; empty for the program itself. */
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly about: string }[];
}

function levelsOf(command: Command, path: readonly string[] = []): CompletionLevel[] {
  const commands = command.commands.map((sub) => ({ word: sub.name(), about: sub.description() }));
  const flags = shownFlags(command).map(({ long, description }) => ({ word: long, about: description }));
  const own = { path: path.join(' '), words: [...commands, ...flags] };
  return [own, ...command.commands.flatMap((sub) => levelsOf(sub, [...path, sub.name()]))];
}

const casesOf = (levels: readonly CompletionLevel[]): string =>
  levels.map(({ path, words }) => `    '${path}') words='${words.map(({ word }) => word).join(' ')}' ;;`).join('\n');

/** Commands are words of letters and hyphens, so nothing needs quoting; files are completed where no word fits. */
const bash = (levels: readonly CompletionLevel[]): string => `# mailvet completion bash
_mailvet() {
  local words='' path='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${casesOf(levels)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _mailvet mailvet mailvet.mjs
`;

const zsh = (levels: readonly CompletionLevel[]): string => `#compdef mailvet mailvet.mjs
# mailvet completion zsh
_mailvet() {
  local path_='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) break ;; *) path_="\${path_:+$path_ }$word" ;; esac
  done
  local words=''
  case "$path_" in
${casesOf(levels)}
  esac
  if [[ -n "$words" ]]; then compadd -- \${=words}; else _files; fi
}
compdef _mailvet mailvet mailvet.mjs
`;

const inFish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const fish = (levels: readonly CompletionLevel[]): string => {
  const lines = levels.flatMap(({ path, words }) => {
    const when = inFish(`test "$(string join ' ' -- (string match -v -- '-*' (commandline -opc)[2..]))" = "${path}"`);
    return words.map(({ word, about }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c mailvet -n ${when} ${what} -d ${inFish(about)}`;
    });
  });
  return `# mailvet completion fish\n${lines.join('\n')}\n`;
};

const SHELLS = { bash, zsh, fish } as const;

/** The words are those of the program that it is a command of. */
export function completionCommand(): Command {
  const group = new Command('completion').description('Print what completes commands and flags in a shell.');
  for (const [shell, script] of Object.entries(SHELLS))
    group.addCommand(
      new Command(shell).description(`The script for ${shell}.`).action((_flags: object, command: Command) => {
        const program = command.parent?.parent;
        if (program) process.stdout.write(script(levelsOf(program)));
      }),
    );
  return group;
}
