import { parseEnv } from 'node:util';
import { type Environment, withoutEmpty } from '../platform/environment.ts';
import { readSettingFile } from '../platform/setting-file.ts';

/** The variables that hold secrets. Each can also come from the file that the variable with `_FILE` behind its name names. */
export const SECRET_VARIABLES: readonly string[] = [
  'DATABASE_URL',
  'BATON_METRICS_TOKEN',
  'BATON_OWNER_PASSWORD',
  'BATON_PAT',
  'BATON_MASTER_KEY',
  'BATON_MASTER_KEY_PREVIOUS',
  'BATON_VAULT_TOKEN',
  'BATON_VAULT_SECRET_ID',
  'BATON_SUITE_CLIENT_SECRET',
  'BATON_MESSAGING_CLIENT_SECRET',
  'BATON_OIDC_CLIENT_SECRET',
  'BATON_SMTP_URL',
  'BATON_STRIPE_SECRET_KEY',
  'BATON_STRIPE_WEBHOOK_SECRET',
];

const fileOf = (name: string) => `${name}_FILE`;

/** The variables that name the file of a secret. */
export const SECRET_FILE_VARIABLES: readonly string[] = SECRET_VARIABLES.map(fileOf);

/** The variable that names one file of settings. */
export const CONFIG_VARIABLE = 'BATON_CONFIG';

const SECRET_BYTES = 64 * 1024;
const CONFIG_BYTES = 256 * 1024;

export type Settings = {
  /** The variables that are not blank: those of the environment, of the file of settings, and the content of the files of secrets. */
  env: Record<string, string>;
  /** The names that the file of settings sets, known or not. */
  inFile: string[];
  /** One line each. No line repeats a value, a path, or anything in a file but the names of settings. */
  problems: string[];
};

/**
 * Adds what files say to an environment: BATON_CONFIG names a file of the settings in `known`, and BATON_X_FILE one with the
 * secret BATON_X. The environment is stronger than the file of settings, where it gives a secret or its file, too.
 */
export function readSettings(environment: Environment, known: readonly string[]): Settings {
  const given = withoutEmpty(environment);
  const problems: string[] = [];
  const file = given[CONFIG_VARIABLE] === undefined ? {} : readConfigFile(given[CONFIG_VARIABLE], problems);
  const inFile = Object.keys(file);
  if (inFile.includes(CONFIG_VARIABLE))
    problems.push(`${CONFIG_VARIABLE}: its file must not name a further file of settings`);
  const usable = new Set([...known, ...SECRET_FILE_VARIABLES]);
  const env = { ...Object.fromEntries(Object.entries(file).filter(([name]) => usable.has(name))), ...given };
  for (const name of SECRET_VARIABLES) {
    const other = fileOf(name);
    if (given[name] !== undefined && given[other] === undefined) delete env[other];
    if (given[other] !== undefined && given[name] === undefined) delete env[name];
    const path = env[other];
    if (path === undefined) continue;
    delete env[other];
    if (env[name] !== undefined) {
      problems.push(`${name}: is given as well as ${other}: set one of them`);
      continue;
    }
    const read = readSettingFile(path, SECRET_BYTES);
    if ('problem' in read) problems.push(`${other}: ${read.problem}`);
    else env[name] = read.text.replace(/\r?\n$/, '');
  }
  return { env, inFile, problems };
}

/** Returns what the file sets; adds a line to `problems` if it cannot be used. */
function readConfigFile(path: string, problems: string[]): Record<string, string> {
  const read = readSettingFile(path, CONFIG_BYTES);
  if ('problem' in read) {
    problems.push(`${CONFIG_VARIABLE}: ${read.problem}`);
    return {};
  }
  const text = read.text.replaceAll('\r\n', '\n');
  const line = strayLine(text);
  if (line === undefined) return withoutEmpty(parseEnv(text));
  problems.push(`${CONFIG_VARIABLE}: line ${line} of its file is not NAME=value, with the name in capital letters`);
  return {};
}

/** A setting, with a value in quotes that end, perhaps on a later line, or without any. */
const SETTING = /^[ \t]*(?:export[ \t]+)?[A-Z][A-Z0-9_]*[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`|(?!["'`])[^\n]*)/gm;

/** Returns the number of the first line that is no setting, comment or blank: `parseEnv` would skip it, or guess. */
function strayLine(text: string): number | undefined {
  const rest = text.replace(SETTING, setting => setting.replace(/[^\n]/g, ''));
  const at = rest.split('\n').findIndex(line => !/^\s*(#.*)?$/.test(line));
  return at < 0 ? undefined : at + 1;
}
