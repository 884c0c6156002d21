import { flagOf, type OptionKey, type OptionRow, optionsOf } from './options.ts';

/** A flag for commander: term, help text, and the key under which `readOptions` expects the value. */
interface FlagHelp {
  readonly key: OptionKey;
  readonly term: string;
  readonly text: string;
}

const defaultOf = (option: OptionRow): string => option.default ?? option.defaultText ?? 'none';

/** The flags of one command for its `--help`. A boolean flag may omit its value: `--allow-private-networks`. */
export function flagsOf(command: string): readonly FlagHelp[] {
  return optionsOf(command).map(([key, option]) => ({
    key,
    term: `${flagOf(option)} ${option.value === 'true|false' ? `[${option.value}]` : `<${option.value}>`}`,
    text: `${option.help.replaceAll('`', '')} Default: ${defaultOf(option).replaceAll('`', '')}. [${option.env}]`,
  }));
}

const GENERATED = 'Generated from src/config/options.ts by `npm run gen`; edit it there.';

function byGroup(): Map<string, readonly OptionRow[]> {
  const rows = optionsOf('*').map(([, option]) => option);
  return Map.groupBy(rows, (option) => option.group);
}

/** docs/options.md */
export function optionsPage(): string {
  const sections = [...byGroup()].map(([group, rows]) => {
    const lines = rows.map((option) => {
      const names = [`\`${option.env}\``, ...(option.aliases ?? []).map((name) => `or \`${name}\``)];
      if (option.secret) names.push(`or from a file: \`${option.env}_FILE\``);
      const value = option.default === null ? defaultOf(option) : `\`${option.default}\``;
      const cells = [names.join('<br>'), `\`${flagOf(option)}\``, value, option.help];
      return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
    });
    return `## ${group}\n\n| variable | flag | default | meaning |\n|---|---|---|---|\n${lines.join('\n')}\n`;
  });
  return `<!-- ${GENERATED} -->
# Options

Every option is an environment variable and a flag of the commands that use it; the flag takes precedence. Secrets can
also be read from a file: set \`…_FILE\` to its path. An empty variable counts as not set. Invalid values prevent the
start, and all of them are reported at once.

${sections.join('\n')}`;
}

/** .env.example */
export function sampleEnvironment(): string {
  const sections = [...byGroup()].map(([group, rows]) => {
    const blocks = rows.map((option) => {
      const text = option.help.replaceAll('`', '');
      const otherwise = option.default === null ? ` Default: ${defaultOf(option).replaceAll('`', '')}.` : '';
      return `${wrap(text + otherwise)}\n#${option.env}=${option.default ?? ''}\n`;
    });
    return `# --- ${group} ---\n\n${blocks.join('\n')}`;
  });
  return `# ${GENERATED}
# The values shown are the defaults. Use with \`docker run --env-file\`, systemd's EnvironmentFile=, or
# \`set -a; . ./.env; set +a\` in a shell.

${sections.join('\n')}`;
}

function wrap(text: string): string {
  const lines: string[] = ['#'];
  for (const word of text.split(' ')) {
    if (lines.at(-1)!.length + word.length + 1 > 100) lines.push('#');
    lines[lines.length - 1] += ` ${word}`;
  }
  return lines.join('\n');
}
