import type { CommandDescription } from '../commands/command.ts';
import { completionsOf } from '../commands/commands.ts';
import type { FlagDescription } from '../flags.ts';

/** Creates the completion script for zsh, which works as a file in fpath and with `source`. */
export function zshCompletion(commands: readonly CommandDescription[]): string {
  const described = commands.map(({ name, summary }) => `    ${quote(`${name}:${summary.replaceAll(':', '\\:')}`)}`);
  return `#compdef carrel
# Completes carrel in zsh: carrel completion zsh > "$fpath[1]/_carrel"
_carrel() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )) && [[ \${words[2]} != -* ]]; then
    _describe -t commands 'command' commands
    return
  fi
  local command="\${words[2]}"
  if [[ $command == -* ]]; then
    command=serve
  else
    shift words
    (( CURRENT-- ))
  fi
  case "$command" in
${commands.map(commandCase).join('\n')}
  esac
}
if [[ \${funcstack[1]} == _carrel ]]; then
  _carrel "$@"
else
  compdef _carrel carrel
fi
`;
}

function commandCase(command: CommandDescription): string {
  const { name, flags } = command;
  const specs = [...flags.flatMap(flagSpecs), ...argumentSpecs(command)].map((spec) => `        ${spec}`);
  return `    ${name})\n      _arguments \\\n${specs.join(' \\\n')}\n      ;;`;
}

function argumentSpecs(command: CommandDescription): string[] {
  const completes = completionsOf(command);
  if ((command.argsMax ?? 0) === 0) return [];
  if (completes === 'files') return ["'*:file:_files'"];
  return [quote(completes === undefined ? '*:word: ' : `1:word:(${completes.join(' ')})`)];
}

function flagSpecs(flag: FlagDescription): string[] {
  const { name, short, type, summary } = flag;
  const repeated = type === 'list' ? '*' : '';
  const description = `[${summary.replaceAll(/[[\]\\]/g, '\\$&')}]`;
  const value = type === 'boolean' ? '' : `:${flag.value ?? 'value'}:${valueAction(flag)}`;
  const spellings = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
  return spellings.map((spelling) => quote(`${repeated}${spelling}${description}${value}`));
}

function valueAction({ choices, completes }: FlagDescription): string {
  if (choices !== undefined) return `(${choices.join(' ')})`;
  if (completes === undefined) return ' ';
  return completes === 'folders' ? '_files -/' : '_files';
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
