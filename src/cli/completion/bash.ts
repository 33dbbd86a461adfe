import type { CommandDescription } from '../commands/command.ts';
import { completionsOf } from '../commands/commands.ts';
import type { FlagDescription } from '../flags.ts';

/** Creates the completion script for bash 3.2 (macOS) and newer. It doesn't need the bash-completion package. */
export function bashCompletion(commands: readonly CommandDescription[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  const valueFlags = flagsOf(commands).filter(({ type }) => type !== 'boolean');
  const values = valueFlags.map((flag) => `      --${flag.name}) ${valueReply(flag)}; return ;;`);
  return `# Completes carrel in bash: source <(carrel completion bash)
_carrel() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="" word index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    if [[ $word != -* ]]; then command="$word"; break; fi
  done
  if ((COMP_CWORD > 1)); then
    case "$previous" in
${values.join('\n')}
    esac
  fi
  if [[ -z $command && $current != -* ]]; then
    COMPREPLY=($(compgen -W '${names}' -- "$current"))
    return
  fi
  case "\${command:-serve}" in
${commands.map(commandCase).join('\n')}
  esac
}
complete -o filenames -o bashdefault -F _carrel carrel
`;
}

function commandCase(command: CommandDescription): string {
  const { name, flags } = command;
  const completes = completionsOf(command);
  const flagNames = flags.map((flag) => `--${flag.name}`).join(' ');
  const words =
    completes === 'files'
      ? fileReply('-f')
      : `COMPREPLY=($(compgen -W '${(completes ?? []).join(' ')}' -- "$current"))`;
  return `    ${name}) if [[ $current == -* ]]; then COMPREPLY=($(compgen -W '${flagNames}' -- "$current")); else ${words}; fi ;;`;
}

function valueReply({ choices, completes }: FlagDescription): string {
  if (choices !== undefined) return `COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$current"))`;
  if (completes === undefined) return 'COMPREPLY=()';
  return fileReply(completes === 'folders' ? '-d' : '-f');
}

/** Completes file names, which may contain spaces. */
function fileReply(kind: '-f' | '-d'): string {
  return `local IFS=$'\\n'; COMPREPLY=($(compgen ${kind} -- "$current"))`;
}

/** Returns all flags, each once: except --version of `add`, a flag takes the same value in every command. */
export function flagsOf(commands: readonly CommandDescription[]): FlagDescription[] {
  return [...new Map(commands.flatMap(({ flags }) => flags).map((flag) => [flag.name, flag])).values()];
}
