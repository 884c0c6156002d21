/** Runs samples in all languages as a reader pastes them, with the sources in place of the packages. */
import { execFile, execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Language } from '../../web/src/pages/reference/samples.ts';

const run = promisify(execFile);
const CLIENT = new URL('../../sdk/src/index.ts', import.meta.url).href;

export interface Program {
  readonly code: string;
  /** Variables of this program alone. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Between the outputs of programs that run in one process, because it takes longer to start than they do. */
const MARK = '--- next sample';

/** A file for each program, with its variables, as JSON. */
async function filesOf(programs: readonly Program[], folder: string, ending: string): Promise<string> {
  const files = programs.map(async ({ code, environment = {} }, n) => {
    const file = join(folder, `sample-${n}.${ending}`);
    await writeFile(file, code);
    return { file, environment };
  });
  return JSON.stringify(await Promise.all(files));
}

type Command = readonly [command: string, args: readonly string[], env?: Readonly<Record<string, string>>];

const COMMANDS: Readonly<Record<Language, (programs: readonly Program[], folder: string) => Promise<Command>>> = {
  async curl(programs) {
    const script = programs.map(({ code, environment = {} }) => {
      const set = Object.entries(environment).map(([name, value]) => `export ${name}='${value}'\n`);
      return `echo '${MARK}'\n${set.join('')}${code.replaceAll(/curl -sS?/g, '$& --fail-with-body')}\n`;
    });
    return ['/bin/sh', ['-ec', script.join('')]];
  },
  async TypeScript(programs, folder) {
    const withSources = ({ code, ...rest }: Program) => ({
      ...rest,
      code: code.replace("'@mailvet/client'", JSON.stringify(CLIENT)),
    });
    const files = await filesOf(programs.map(withSources), folder, 'ts');
    const main = `for (const { file, environment } of ${files}) {
      console.log('${MARK}');
      Object.assign(process.env, environment);
      await import(file);
    }`;
    return [process.execPath, ['--input-type=module', '-e', main]];
  },
  async Python(programs, folder) {
    const files = JSON.stringify(await filesOf(programs, folder, 'py'));
    const main = `
import json, os
for one in json.loads(${files}):
    print('${MARK}')
    os.environ.update(one['environment'])
    exec(open(one['file']).read())`;
    const env = { PYTHONPATH: fileURLToPath(new URL('../../clients/python/src', import.meta.url)) };
    return [PYTHON ?? 'python3', ['-c', main], env];
  },
  async PHP(programs, folder) {
    const withSources = ({ code, ...rest }: Program) => ({
      ...rest,
      code: code.replace("require 'vendor/autoload.php';", ''),
    });
    const files = await filesOf(programs.map(withSources), folder, 'php');
    const sources = JSON.stringify(fileURLToPath(new URL('../../clients/php/src/', import.meta.url)));
    const main = `spl_autoload_register(function ($name) {
        require ${sources} . str_replace('\\\\', '/', substr($name, strlen('Mailvet') + 1)) . '.php';
      });
      foreach (json_decode('${files}') as $one) {
        echo "${MARK}\\n";
        foreach ($one->environment as $name => $value) putenv("$name=$value");
        include $one->file;
      }`;
    return ['php', ['-r', main]];
  },
};

/** What each of the programs prints, run in `folder`. Rejects where one fails. */
export async function outputsOf(
  language: Language,
  programs: readonly Program[],
  folder: string,
): Promise<readonly string[]> {
  const [command, args, env = {}] = await COMMANDS[language](programs, folder);
  const { stdout } = await run(command, args, { cwd: folder, env: { PATH: process.env.PATH, ...env } });
  return stdout.split(`${MARK}\n`).slice(1);
}

function canRun(what: string, command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    console.warn(`LEFT OUT: the samples in ${what}.`);
    return false;
  }
}

/** Debian's has the module of its package, whichever comes first on the PATH. */
const PYTHON = ['python3', '/usr/bin/python3'].find((command) =>
  canRun(`Python by ${command}, which need httpx`, command, ['-c', 'import httpx']),
);
const hasPhp = canRun('PHP, which need its extension curl', 'php', ['-r', 'exit(extension_loaded("curl") ? 0 : 1);']);

/** The languages that this machine can run. */
export const RUNNABLE: readonly Language[] = [
  'curl',
  'TypeScript',
  ...(PYTHON === undefined ? [] : (['Python'] as const)),
  ...(hasPhp ? (['PHP'] as const) : []),
];
